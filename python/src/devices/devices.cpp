#include "zonal/device.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "zonal/buffer.hpp"

namespace zonal::python {
namespace {

/// An array in the memory of a GPU, which somebody else owns.
template <class T>
nb::object array_at(int device, std::uintptr_t address, const std::vector<std::size_t>& shape,
                    const std::optional<std::vector<std::int64_t>>& strides, nb::handle owner) {
    return nb::cast(nb::ndarray<nb::array_api, T>(reinterpret_cast<void*>(address), shape.size(),
                                                  shape.data(), owner, strides ? strides->data() : nullptr,
                                                  nb::dtype<T>(), nb::device::cuda::value, device));
}

/// type: of the elements. strides: in elements; none of a contiguous array.
nb::object device_array(const std::string& type, int device, std::uintptr_t address,
                        const std::vector<std::size_t>& shape,
                        const std::optional<std::vector<std::int64_t>>& strides, nb::handle owner) {
    if (type == "float32") return array_at<float>(device, address, shape, strides, owner);
    if (type == "float64") return array_at<double>(device, address, shape, strides, owner);
    if (type == "complex64") return array_at<std::complex<float>>(device, address, shape, strides, owner);
    return array_at<std::complex<double>>(device, address, shape, strides, owner);
}

/// Memory of a GPU, for libraries that have no arrays which others may write to. Its address, and what owns
/// it.
std::tuple<std::uintptr_t, nb::capsule> allocate(int device, std::int64_t bytes, bool zeroed) {
    auto memory = without_gil(nb::none(), [&](const Progress&) {
        auto made = std::make_unique<Buffer>(Device::cuda(device), bytes);
        if (zeroed) made->clear();
        return made;
    });
    const auto address = reinterpret_cast<std::uintptr_t>(memory->data());
    return {address, nb::capsule(memory.release(), [](void* p) noexcept { delete static_cast<Buffer*>(p); })};
}

/// Maps or alm, [n] or [row, n] from the memory of a GPU to the host's, or back. On a GPU its default stream
/// does it.
template <class T>
void copy_maps(const AnyArray<const T>& from, const AnyArray<T>& to) {
    const auto source = batch_of(from, false);
    const auto target = batch_of(to, false);
    require_apart(source, target);
    const auto rows = [](const auto& maps) {
        using Rows = View<std::remove_pointer_t<decltype(maps.data())>, 2>;
        return Rows(maps.data(), {maps.extent(0), maps.extent(2)}, {maps.stride(0), maps.stride(2)},
                    maps.space());
    };
    without_gil(nb::none(), [&](const Progress&) { copy_rows<T>(rows(source), rows(target)); });
}

}  // namespace

void bind_devices(nb::module_& module) {
    module.def("list_devices", [] {
        std::vector<std::tuple<std::string, std::string, std::int64_t, std::string>> found;
        for (const auto& one : list_devices())
            found.emplace_back(to_string(one.device), one.name, one.memory_bytes, one.reason);
        return found;
    });
    module.def("resolve_device",
               [](const std::string& name) { return to_string(resolve_device(parse_device(name))); });
    module.def("device_array", &device_array, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
               nb::arg());
    module.def("allocate_on_device", &allocate);
    module.def("copy_maps", &copy_maps<double>, nb::arg().noconvert(), nb::arg().noconvert());
    module.def("copy_maps", &copy_maps<float>, nb::arg().noconvert(), nb::arg().noconvert());
    module.def("copy_maps", &copy_maps<std::complex<double>>, nb::arg().noconvert(), nb::arg().noconvert());
    module.def("copy_maps", &copy_maps<std::complex<float>>, nb::arg().noconvert(), nb::arg().noconvert());
    module.def("available_cpus", &available_cpus);
    module.def("simd_target", &simd_target);
}

}  // namespace zonal::python
