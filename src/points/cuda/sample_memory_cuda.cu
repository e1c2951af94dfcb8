#include "points/cuda/sample_memory_cuda.cuh"

#include <algorithm>

namespace zonal::points::cuda {
namespace {

using sht::cuda::AlmPointers;
using sht::cuda::AlmTargets;

/// A map's coefficients as numbers, component by component.
template <class T, class Pointers, class Field>
Pointers pointers_of(const std::vector<Field>& fields, std::int64_t map, std::int64_t components) {
    Pointers pointers{};
    for (std::int64_t c = 0; c < components; ++c)
        pointers.alm[c] = reinterpret_cast<T*>(fields[static_cast<std::size_t>(map * components + c)].there);
    return pointers;
}

/// Calls work(first map, maps) for the maps that share the recurrences.
template <class Work>
void for_passes(const SampleMemory& memory, const Work& work) {
    const std::int64_t at_once = sht::cuda::maps_at_once(memory.stage.legendre, memory.n_maps);
    for (std::int64_t first = 0; first < memory.n_maps; first += at_once)
        work(first, std::min(at_once, memory.n_maps - first));
}

/// Makes room for what both directions need.
void fit(SampleMemory& memory, sht::cuda::Orders adjoint) {
    const auto& legendre = memory.stage.legendre;
    memory.fourier.reserve(memory.n_fields() * legendre.layout().size());
    memory.modes.fit(legendre, sht::cuda::maps_at_once(legendre, memory.n_maps), adjoint);
    memory.stage.circles.fit(memory.scratch);
    const SampleTables& t = memory.stage.plan.tables;
    if (!memory.rows_in_phi) memory.rows_in_phi.emplace(memory.layout, t.mmax, t.sign());
    memory.rows_in_phi->fit(memory.scratch);
}

/// Weights and sums of a call that wants to know its errors.
class ErrorRoom {
  public:
    ErrorRoom(const SampleStage& stage, std::int64_t n_fields)
        : stage_(stage),
          aliases_(stage.plan.window.aliases()),
          weights_(error_weights(stage.plan, aliases_)),
          power_(weights_.power),
          alias_(weights_.alias),
          sums_(n_fields * of_field()) {}

    ErrorSums of(std::int64_t field) const {
        return {power_.data(), alias_.data(), sums_.data() + field * of_field()};
    }
    /// Once the stream has passed all sums.
    void read(std::vector<PointErrors>& errors) const {
        std::vector<OrderErrors> sums(static_cast<std::size_t>(sums_.size()));
        core::check_cuda(cudaMemcpy(sums.data(), sums_.data(), static_cast<std::size_t>(sums_.bytes()),
                                    cudaMemcpyDeviceToHost),
                         "copying errors");
        errors.clear();
        for (std::int64_t first = 0; first < sums_.size(); first += of_field())
            errors.push_back(mean_errors(sums.data() + first, aliases_, stage_.plan.tables.mmax));
    }

  private:
    std::int64_t of_field() const { return 2 * stage_.circles.n_pairs(); }

    const SampleStage& stage_;
    const std::vector<double> aliases_;
    const ErrorWeights weights_;
    const core::DeviceArray<double> power_, alias_;
    const core::DeviceArray<OrderErrors> sums_;
};

std::vector<double> joined(const WindowPolynomials& polynomials) {
    std::vector<double> all;
    for (const auto* const part :
         {&polynomials.even, &polynomials.odd, &polynomials.slope_even, &polynomials.slope_odd})
        all.insert(all.end(), part->begin(), part->end());
    return all;
}

}  // namespace

SampleStage::SampleStage(const SphereSamples::Implementation& made_for)
    : plan(made_for),
      device(made_for.options.device.index()),
      legendre(plan.tables.pairs, plan.tables.legendre),
      circles(plan.tables, legendre.layout()),
      weights_(joined(plan.polynomials)) {}

std::int64_t SampleStage::column_border(const SampleTables& tables) {
    constexpr std::int64_t line = 8;
    return (tables.border + line - 1) / line * line;
}

SampleLayout SampleStage::layout_of(SampleRows rows) const {
    const SampleTables& t = plan.tables;
    const std::int64_t border = column_border(t), n = t.n;
    const SampleRows computed{std::max<std::int64_t>(rows.first, 0), std::min(rows.end, n / 2 + 1)};
    return {static_cast<std::int32_t>(n),
            static_cast<std::int32_t>(border),
            static_cast<std::int32_t>(rows.first),
            static_cast<std::int32_t>(rows.end - rows.first),
            static_cast<std::int32_t>(computed.first),
            static_cast<std::int32_t>(computed.end - computed.first),
            n + 2 * border};
}

SampleMemory::SampleMemory(const SampleStage& made_by, SampleRows all)
    : stage(made_by),
      rows(all),
      layout(made_by.layout_of(all)),
      transfer(made_by.device, made_by.plan.options.threads) {}

void SampleMemory::set_maps(std::int64_t count) {
    n_maps = count;
    own_samples.reserve(n_fields() * layout.field_size());
    samples = own_samples.data();
}

void SampleMemory::lend(double* lent, std::int64_t count) {
    n_maps = count;
    samples = lent;
}

void SampleMemory::finish(bool on_device) const {
    if (on_device && caller) return;
    core::check_cuda(cudaStreamSynchronize(stream()), "a transform at points");
}

std::shared_ptr<const SampleStage> make_stage(const SphereSamples::Implementation& plan) {
    const core::CurrentDevice current(plan.options.device.index());
    return std::make_shared<const SampleStage>(plan);
}

std::shared_ptr<SampleMemory> make_memory(const SampleStage& stage, SampleRows rows) {
    const core::CurrentDevice current(stage.device);
    return std::make_shared<SampleMemory>(stage, rows);
}

void set_maps(SampleMemory& memory, std::int64_t n_maps) {
    const core::CurrentDevice current(memory.stage.device);
    memory.set_maps(n_maps);
}

void lend(SampleMemory& memory, double* lent, std::int64_t n_maps) {
    memory.lend(lent, n_maps);
}

std::int64_t field_size(const SampleStage& stage, SampleRows rows) {
    return stage.layout_of(rows).field_size();
}

std::int64_t bytes_of(const SampleMemory& memory) {
    return memory.own_samples.bytes();
}

void use_stream(SampleMemory& memory, void* stream) {
    memory.caller = static_cast<cudaStream_t>(stream);
}

template <class T>
void synthesize(View<const std::complex<T>, 3> alm, SampleMemory& memory, std::vector<PointErrors>* errors) {
    const SampleStage& stage = memory.stage;
    const core::CurrentDevice current(stage.device);
    core::require_place("alm", alm, stage.device);
    const bool on_device = alm.space() == MemorySpace::cuda;
    const cudaStream_t stream = memory.stream();
    const auto& legendre = stage.legendre;
    const std::int64_t components = stage.plan.components, size = legendre.layout().size();
    fit(memory, {0, 0});
    const auto fields = memory.fields_of(alm, memory.alm);
    memory.bring(fields, alm.extent(2));
    for_passes(memory, [&](std::int64_t first, std::int64_t maps) {
        std::vector<AlmPointers<T>> pointers;
        for (std::int64_t map = first; map < first + maps; ++map)
            pointers.push_back(pointers_of<const T, AlmPointers<T>>(fields, map, components));
        sht::cuda::modes_from_alm<T>(legendre, legendre.all_orders(), pointers, memory.modes,
                                     memory.fourier.data() + first * components * size, stream);
    });
    std::optional<ErrorRoom> room;
    if (errors != nullptr) room.emplace(stage, memory.n_fields());
    for (std::int64_t f = 0; f < memory.n_fields(); ++f) {
        const std::optional<ErrorSums> sums = room ? std::optional(room->of(f)) : std::nullopt;
        stage.circles.to_rows(memory.fourier.data() + f * size, memory.layout, memory.field(f),
                              sums ? &*sums : nullptr, memory.scratch, stream);
        memory.rows_in_phi->to_samples(memory.field(f), memory.scratch, stream);
    }
    memory.finish(on_device && errors == nullptr);
    if (room) room->read(*errors);
}

template <class T>
void adjoint(SampleMemory& memory, View<std::complex<T>, 3> alm) {
    const SampleStage& stage = memory.stage;
    const core::CurrentDevice current(stage.device);
    core::require_place("alm", alm, stage.device);
    const cudaStream_t stream = memory.stream();
    const auto& legendre = stage.legendre;
    const std::int64_t components = stage.plan.components, size = legendre.layout().size();
    const sht::cuda::Orders orders = legendre.all_orders();
    fit(memory, orders);
    const auto fields = memory.fields_of(alm, memory.alm);
    memory.modes.begin_adjoint(legendre, orders, stream);
    for (std::int64_t f = 0; f < memory.n_fields(); ++f) {
        memory.rows_in_phi->from_samples(memory.field(f), memory.scratch, stream);
        stage.circles.from_rows(memory.field(f), memory.layout, memory.fourier.data() + f * size,
                                memory.scratch, stream);
    }
    for_passes(memory, [&](std::int64_t first, std::int64_t maps) {
        std::vector<AlmTargets<T>> targets;
        for (std::int64_t map = first; map < first + maps; ++map)
            targets.push_back(pointers_of<T, AlmTargets<T>>(fields, map, components));
        sht::cuda::alm_from_modes<T>(legendre, orders, memory.fourier.data() + first * components * size,
                                     memory.modes, targets, stream);
    });
    memory.deliver(fields, alm.extent(2));
    memory.finish(alm.space() == MemorySpace::cuda);
}

template void synthesize(View<const std::complex<float>, 3>, SampleMemory&, std::vector<PointErrors>*);
template void synthesize(View<const std::complex<double>, 3>, SampleMemory&, std::vector<PointErrors>*);
template void adjoint(SampleMemory&, View<std::complex<float>, 3>);
template void adjoint(SampleMemory&, View<std::complex<double>, 3>);

}  // namespace zonal::points::cuda
