#include "xpu/generator.h"

#include "bindings.h"

namespace xpu::bindings {

void bind_generator(py::module_& m) {
  py::class_<Generator>(m, "Generator", "Random state: a Philox seed and offset.")
      .def(py::init<std::uint64_t>(), py::arg("seed") = Generator::default_seed)
      .def_property("seed", &Generator::seed, &Generator::set_seed, "Setting it moves the offset to 0.")
      .def_property("offset", &Generator::offset, &Generator::set_offset)
      .def(
          "take",
          [](Generator& g, std::uint64_t n) {
            auto s = g.take(n);
            return std::make_pair(s.seed, s.offset);
          },
          py::arg("increment"),
          "(seed, offset) for a kernel that draws at most `increment` numbers an element.");
  m.def("default_generator", &default_generator, py::arg("device"), py::return_value_policy::reference,
        Unlocked());
}

}  // namespace xpu::bindings
