"""Weights of one to seven bits a number, which lie dense."""
