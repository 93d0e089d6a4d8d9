"""Graphs as C++: ``config.cpp_wrapper``, and the packages of AOTInductor."""
