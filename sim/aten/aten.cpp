// torch's operators on the simulated device: each runs as torch's own CPU kernel over the same
// memory.
//
// torch_npu registers kernels for most of them, which end in CANN's operator libraries. This
// library registers others over those. What only allocates, views or describes memory stays
// torch_npu's.
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/_sparse_compressed_tensor_unsafe.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cells.h"
#include "third_party/acl/inc/acl/acl.h"

namespace {

using c10::DispatchKey;
using c10::IValue;
using c10::OperatorHandle;
using Stack = torch::jit::Stack;

constexpr auto kNpu = DispatchKey::PrivateUse1;
constexpr auto kAutogradNpu = DispatchKey::AutogradPrivateUse1;

// Waits for everything that was launched before: the host is about to touch the memory.
void SynchronizeStream() {
    // stream() hands torch_npu's own queue over first.
    const aclError error = aclrtSynchronizeStream(c10_npu::getCurrentNPUStream().stream());
    TORCH_CHECK(error == ACL_SUCCESS, aclGetRecentErrMsg(), " (error ", error, ")");
}

// --- one call ---------------------------------------------------------------------------------

// The arguments of one call as CPU tensors over the device's memory, and the way back.
class CpuCall {
public:
    explicit CpuCall(const OperatorHandle &op) : op_(op) {}

    void Run(Stack *stack) {
        const size_t count = op_.schema().arguments().size();
        const size_t first = stack->size() - count;
        FindDevice(*stack, first);
        const c10::OptionalDeviceGuard guard(device_);
        SynchronizeStream();
        for (size_t i = first; i < stack->size(); ++i) {
            (*stack)[i] = ToCpu((*stack)[i]);
        }
        {
            const SeededRandomness randomness(*this, stack, first);
            const at::AutoDispatchBelowADInplaceOrView belowAutograd;
            op_.redispatchBoxed(keys_, stack);
        }
        AdoptResizes();
        const size_t results = op_.schema().returns().size();
        for (size_t i = stack->size() - results; i < stack->size(); ++i) {
            (*stack)[i] = ToNpu((*stack)[i]);
        }
    }

private:
    // The numbers follow the device's own generator: its seed and offset seed one of the CPU.
    class SeededRandomness {
    public:
        SeededRandomness(CpuCall &call, Stack *stack, size_t first) {
            const auto &arguments = call.op_.schema().arguments();
            bool taken = false;
            for (size_t i = 0; i < arguments.size(); ++i) {
                if (IsGenerator(*arguments[i].type()) && call.device_) {
                    IValue &value = (*stack)[first + i];
                    value = IValue(
                        Derive(value.isNone() ? Default(*call.device_) : value.toGenerator()));
                    taken = true;
                }
            }
            if (!taken && call.device_ && call.op_.hasTag(at::Tag::nondeterministic_seeded)) {
                // The operator takes the CPU's default generator: lend it other numbers.
                cpu_ = at::globalContext().defaultGenerator(at::kCPU);
                saved_ = cpu_.clone();
                cpu_.set_current_seed(Derive(Default(*call.device_)).current_seed());
            }
        }
        SeededRandomness(const SeededRandomness &) = delete;
        SeededRandomness &operator=(const SeededRandomness &) = delete;
        ~SeededRandomness() {
            if (saved_.defined()) {
                cpu_.set_state(saved_.get_state());
            }
        }

    private:
        static bool IsGenerator(const c10::Type &type) {
            if (const auto *optional = type.castRaw<c10::OptionalType>()) {
                return optional->getElementType()->kind() == c10::TypeKind::GeneratorType;
            }
            return type.kind() == c10::TypeKind::GeneratorType;
        }
        static at::Generator Default(c10::Device device) {
            return at::globalContext().defaultGenerator(device);
        }
        static at::Generator Derive(at::Generator generator) {
            if (generator.device().is_cpu()) {
                return generator;
            }
            const uint64_t offset = generator.get_offset();
            // Any odd multiplier: successive offsets must give unrelated seeds.
            const uint64_t seed = generator.current_seed() + (offset + 1) * 0x9E3779B97F4A7C15ULL;
            generator.set_offset(offset + 4);
            at::Generator derived = at::globalContext().defaultGenerator(at::kCPU).clone();
            derived.set_current_seed(seed);
            return derived;
        }

        at::Generator cpu_;
        at::Generator saved_;
    };

    void FindDevice(const Stack &stack, size_t first) {
        const bool mixes = MixesDevices(stack[first]);
        bool cpu = false;
        const auto see = [&](const at::Tensor &tensor) {
            if (!tensor.defined()) {
                return;
            }
            const c10::Device device = tensor.device();
            if (device.type() == c10::DeviceType::PrivateUse1) {
                TORCH_CHECK(!device_ || *device_ == device || mixes,
                            "Expected all tensors to be on the same device, but found at least two "
                            "devices, ",
                            *device_, " and ", device, "!");
                device_ = device_ ? device_ : device;
            } else if (device.is_cpu() && tensor.dim() > 0) {
                cpu = true;
            }
        };
        for (size_t i = first; i < stack.size(); ++i) {
            ForEachTensor(stack[i], see);
        }
        TORCH_CHECK(
            !(cpu && device_) || mixes,
            "Expected all tensors to be on the same device, but found at least two devices, ",
            *device_, " and cpu!");
        for (size_t i = first; i < stack.size() && !device_; ++i) {
            if (stack[i].isDevice() && stack[i].toDevice().type() == c10::DeviceType::PrivateUse1) {
                device_ = stack[i].toDevice();
                if (!device_->has_index()) {
                    device_ = c10::Device(c10::DeviceType::PrivateUse1,
                                          c10_npu::getCurrentNPUStream().device_index());
                }
            }
        }
    }

    // Operators that take tensors of several devices, on real devices too: copies, and indices of
    // the host for a tensor of the device.
    bool MixesDevices(const IValue &self) const {
        const std::string &name = op_.schema().name();
        static const auto *copies = new std::unordered_set<std::string>{
            "aten::copy_", "aten::_copy_from", "aten::_copy_from_and_resize",
            "aten::_pack_padded_sequence", "aten::set_"};
        static const auto *indexing = new std::unordered_set<std::string>{
            "aten::index",         "aten::index_put",         "aten::index_put_",
            "aten::_unsafe_index", "aten::_unsafe_index_put", "aten::_index_put_impl_"};
        return copies->count(name) != 0 ||
               (indexing->count(name) != 0 && !self.toTensor().device().is_cpu());
    }

    template <typename See>
    static void ForEachTensor(const IValue &value, const See &see) {
        if (value.isTensor()) {
            see(value.toTensor());
        } else if (value.isTensorList()) {
            for (const at::Tensor &tensor : value.toTensorVector()) {
                see(tensor);
            }
        } else if (value.isOptionalTensorList()) {
            for (const auto &tensor : value.toOptionalTensorVector()) {
                if (tensor) {
                    see(*tensor);
                }
            }
        }
    }

    IValue ToCpu(const IValue &value) {
        if (value.isTensor()) {
            return Wrap(value.toTensor());
        }
        if (value.isTensorList()) {
            c10::List<at::Tensor> out;
            for (const at::Tensor &tensor : value.toTensorVector()) {
                out.push_back(Wrap(tensor));
            }
            return out;
        }
        if (value.isOptionalTensorList()) {
            c10::List<std::optional<at::Tensor>> out;
            for (const auto &tensor : value.toOptionalTensorVector()) {
                out.push_back(tensor ? std::optional<at::Tensor>(Wrap(*tensor)) : std::nullopt);
            }
            return out;
        }
        if (value.isDevice() && value.toDevice().type() == c10::DeviceType::PrivateUse1) {
            return c10::Device(at::kCPU);
        }
        return value;
    }

    // A CPU tensor over the memory of an NPU tensor. One storage for one storage, so that the
    // kernel sees which arguments overlap.
    at::Tensor Wrap(const at::Tensor &npu) {
        if (!npu.defined() || npu.device().type() != c10::DeviceType::PrivateUse1) {
            hostArguments_.push_back(npu);
            return npu;
        }
        if (npu.layout() == at::kSparse) {
            keys_ = c10::DispatchKeySet(DispatchKey::SparseCPU);
            return at::_sparse_coo_tensor_unsafe(Wrap(npu._indices()), Wrap(npu._values()),
                                                 npu.sizes(), npu.options().device(at::kCPU),
                                                 npu.is_coalesced());
        }
        TORCH_CHECK(npu.layout() == at::kStrided, op_.schema().name(), ": tensors of layout ",
                    npu.layout(), " are not simulated on the NPU");
        for (const Argument &argument : arguments_) {
            if (argument.npu.is_same(npu)) {
                return argument.cpu;
            }
        }
        c10::StorageImpl *impl = npu.storage().unsafeGetStorageImpl();
        auto found = storages_.find(impl);
        if (found == storages_.end()) {
            c10::Storage storage(c10::Storage::use_byte_size_t(), impl->nbytes(),
                                 c10::DataPtr(impl->mutable_data(), at::kCPU),
                                 c10::GetCPUAllocator(),
                                 /*resizable=*/true);
            found = storages_.emplace(impl, std::move(storage)).first;
        }
        at::Tensor cpu = at::detail::make_tensor<c10::TensorImpl>(
            c10::Storage(found->second), c10::DispatchKeySet(DispatchKey::CPU), npu.dtype());
        c10::TensorImpl *raw = cpu.unsafeGetTensorImpl();
        raw->set_sizes_and_strides(npu.sizes(), npu.strides(), npu.storage_offset());
        KeepWrappedNumber(npu, cpu);
        cpu._set_conj(npu.is_conj());
        cpu._set_neg(npu.is_neg());
        arguments_.push_back({npu, cpu, npu.sizes().vec(), npu.strides().vec()});
        return cpu;
    }

    // A Python number, whose dtype yields to those of tensors.
    static void KeepWrappedNumber(const at::Tensor &from, const at::Tensor &to) {
        if (from.unsafeGetTensorImpl()->is_wrapped_number()) {
            to.unsafeGetTensorImpl()->set_wrapped_number(true);
        }
    }

    // Arguments that the kernel resized (out=) get the same shape and data on the device.
    void AdoptResizes() {
        for (const Argument &argument : arguments_) {
            if (argument.cpu.sizes() == argument.sizes &&
                argument.cpu.strides() == argument.strides) {
                continue;
            }
            argument.npu.resize_(argument.cpu.sizes());
            if (argument.npu.strides() != argument.cpu.strides()) {
                const size_t needed = argument.cpu.storage().nbytes();
                if (argument.npu.storage().nbytes() < needed) {
                    argument.npu.resize_(
                        {static_cast<int64_t>(needed / argument.npu.element_size())});
                }
                argument.npu.as_strided_(argument.cpu.sizes(), argument.cpu.strides());
            }
            CopyBytes(argument.npu, argument.cpu);
        }
    }

    static void CopyBytes(const at::Tensor &npu, const at::Tensor &cpu) {
        const size_t item = cpu.element_size();
        const size_t offset = static_cast<size_t>(cpu.storage_offset()) * item;
        const size_t room =
            npu.storage().nbytes() - static_cast<size_t>(npu.storage_offset()) * item;
        const size_t bytes = std::min(room, cpu.storage().nbytes() - offset);
        // Another thread may have freed this memory with its kernel still to come, and resize_
        // moves the former content when the stream gets to it.
        SynchronizeStream();
        if (bytes != 0 && npu.numel() != 0) {
            std::memmove(npu.mutable_data_ptr(),
                         static_cast<const char *>(cpu.storage().data()) + offset, bytes);
        }
    }

    IValue ToNpu(const IValue &value) {
        if (value.isTensor()) {
            return Unwrap(value.toTensor());
        }
        if (value.isTensorList()) {
            c10::List<at::Tensor> out;
            for (const at::Tensor &tensor : value.toTensorVector()) {
                out.push_back(Unwrap(tensor));
            }
            return out;
        }
        return value;
    }

    at::Tensor Unwrap(const at::Tensor &cpu) {
        const auto isResult = [&](const at::Tensor &host) { return host.is_same(cpu); };
        if (!cpu.defined() || !device_ ||
            std::any_of(hostArguments_.begin(), hostArguments_.end(), isResult)) {
            return cpu;
        }
        for (const Argument &argument : arguments_) {
            if (argument.cpu.is_same(cpu)) {
                return argument.npu;
            }
        }
        if (cpu.layout() != at::kStrided) {
            return UnwrapSparse(cpu);
        }
        for (const Argument &argument : arguments_) {
            if (cpu.has_storage() && argument.cpu.storage().is_alias_of(cpu.storage())) {
                return argument.npu.as_strided(cpu.sizes(), cpu.strides(), cpu.storage_offset());
            }
        }
        TORCH_CHECK_NOT_IMPLEMENTED(!cpu.is_quantized(), op_.schema().name(),
                                    ": quantized tensors are not simulated on the NPU");
        if (cpu._is_zerotensor()) {  // has no memory
            return at::zeros(cpu.sizes(), cpu.options().device(*device_));
        }
        const at::Tensor dense = cpu.is_non_overlapping_and_dense() ? cpu : cpu.contiguous();
        at::Tensor npu =
            at::empty_strided(dense.sizes(), dense.strides(), dense.options().device(*device_));
        CopyBytes(npu, dense);
        npu._set_conj(dense.is_conj());
        npu._set_neg(dense.is_neg());
        KeepWrappedNumber(dense, npu);
        return npu;
    }

    // Such tensors are torch_npu's own; their parts are dense.
    at::Tensor UnwrapSparse(const at::Tensor &cpu) {
        const at::TensorOptions options = cpu.options().device(*device_);
        if (cpu.layout() == at::kSparse) {
            return at::_sparse_coo_tensor_unsafe(Unwrap(cpu._indices()), Unwrap(cpu._values()),
                                                 cpu.sizes(), options, cpu.is_coalesced());
        }
        const bool byRow = cpu.layout() == at::kSparseCsr || cpu.layout() == at::kSparseBsr;
        TORCH_CHECK_NOT_IMPLEMENTED(
            byRow || cpu.layout() == at::kSparseCsc || cpu.layout() == at::kSparseBsc,
            op_.schema().name(), ": results of layout ", cpu.layout(),
            " are not simulated on the NPU");
        return at::_sparse_compressed_tensor_unsafe(
            Unwrap(byRow ? cpu.crow_indices() : cpu.ccol_indices()),
            Unwrap(byRow ? cpu.col_indices() : cpu.row_indices()), Unwrap(cpu.values()),
            cpu.sizes(), options);
    }

    struct Argument {
        at::Tensor npu;
        at::Tensor cpu;
        std::vector<int64_t> sizes;  // before the call
        std::vector<int64_t> strides;
    };

    const OperatorHandle &op_;
    std::optional<c10::Device> device_;
    c10::DispatchKeySet keys_{DispatchKey::CPU};
    std::vector<Argument> arguments_;
    std::vector<at::Tensor> hostArguments_;  // of copies between host and device, for example
    std::unordered_map<c10::StorageImpl *, c10::Storage> storages_;
};

// --- kernels ----------------------------------------------------------------------------------

void OnCpu(const OperatorHandle &op, c10::DispatchKeySet, Stack *stack) { CpuCall(op).Run(stack); }

template <DispatchKey key>
void Through(const OperatorHandle &op, c10::DispatchKeySet, Stack *stack) {
    op.callBoxedForDispatchKey(key, *stack);
}

void NotSimulated(const OperatorHandle &op, c10::DispatchKeySet, Stack *) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, op.schema().name(),
        " is an operator of CANN that the simulated NPU does not have. To give "
        "it one: @torch.library.impl(\"",
        op.schema().name(), "\", \"CPU\")");
}

// An operator of torch_npu for which somebody registered a CPU kernel.
void NpuOperator(const OperatorHandle &op, c10::DispatchKeySet keys, Stack *stack) {
    op.hasKernelForDispatchKey(DispatchKey::CPU) ? OnCpu(op, keys, stack)
                                                 : NotSimulated(op, keys, stack);
}

// Without cube units there is one memory format.
void FormatCast(const OperatorHandle &op, c10::DispatchKeySet, Stack *stack) {
    stack->resize(stack->size() - op.schema().arguments().size() + 1);
}

void DtypeCast(const OperatorHandle &op, c10::DispatchKeySet, Stack *stack) {
    const size_t first = stack->size() - op.schema().arguments().size();
    const at::Tensor out = (*stack)[first].toTensor().to((*stack)[first + 1].toScalarType());
    stack->resize(first);
    stack->emplace_back(out);
}

// --- registration -----------------------------------------------------------------------------

// They only allocate, view or describe memory, for which torch_npu needs no CANN operator.
bool StaysWithTorchNpu(const std::string &name) {
    static const auto *names =
        new std::unordered_set<std::string>{"aten::empty",
                                            "aten::empty_strided",
                                            "aten::empty_with_format",
                                            "aten::as_strided",
                                            "aten::view",
                                            "aten::_reshape_alias",
                                            "aten::unfold",
                                            "aten::view_as_real",
                                            "aten::view_as_complex",
                                            "aten::resize_",
                                            "aten::set_",
                                            "aten::is_set_to",
                                            "aten::record_stream",
                                            "aten::is_pinned",
                                            "aten::_pin_memory",
                                            "aten::pin_memory",
                                            "aten::_has_compatible_shallow_copy_type",
                                            "aten::lift",
                                            "aten::lift_fresh",
                                            "aten::alias",
                                            "aten::new_empty_strided",
                                            "aten::empty_like",
                                            "aten::new_empty",
                                            "aten::detach",
                                            "npu::empty_with_format",
                                            "npu::unsafe_empty_with_format",
                                            "npu::get_storage_size",
                                            "npu::npu_change_data_ptr",
                                            "npu::get_npu_format",
                                            "npu::_npu_storage_resize",
                                            "npu::npu_format_cast_",
                                            "npu::copy_memory_",
                                            "npu::empty_with_swapped_memory"};
    return names->count(name) != 0;
}

// Their composite body takes another path on each device.
bool HasCpuBody(const std::string &name) {
    static const auto *names =
        new std::unordered_set<std::string>{"aten::copy_",
                                            "aten::conj_physical_",
                                            "aten::convolution",
                                            "aten::_convolution",
                                            "aten::convolution_overrideable",
                                            "aten::convolution_backward",
                                            "aten::convolution_backward_overrideable"};
    return names->count(name) != 0;
}

// Of sparse tensors torch_npu has torch's own kernels, made of dense operators. These end in CANN's
// operators instead, or lose elements of the mask where the dense tensor is zero.
bool IsSparseOnCpu(const std::string &name) {
    return name == "aten::_coalesce" || name == "aten::addmm" || name == "aten::sparse_mask";
}

// Whether a user registered the active kernel: theirs stays.
bool IsUsers(const OperatorHandle &op) {
    const std::string state = op.dumpState();
    const size_t line = state.find("\nPrivateUse1: registered at ");
    if (line == std::string::npos) {
        return false;
    }
    const std::string where = state.substr(line, state.find('\n', line + 1) - line);
    return where.find("torch_npu") == std::string::npos &&
           where.find("op-plugin") == std::string::npos &&
           where.find("op_plugin") == std::string::npos;
}

class Registrar {
public:
    // Kernels stay to the end of the process, and after: torch runs operators at exit.
    void Put(const OperatorHandle &op, DispatchKey key, c10::KernelFunction kernel) {
        static auto *handles = new std::vector<c10::RegistrationHandleRAII>;
        handles->push_back(c10::Dispatcher::singleton().registerImpl(
            op.operator_name(), key, std::move(kernel), std::nullopt, nullptr, "simulated NPU"));
    }

    void Register(const OperatorHandle &op) {
        const std::string &name = op.operator_name().name;
        if (StaysWithTorchNpu(name) || !op.hasSchema() || IsUsers(op)) {
            return;
        }
        using K = c10::KernelFunction;
        const bool theirs = op.hasKernelForDispatchKey(kNpu);
        const bool theirAutograd = op.hasKernelForDispatchKey(kAutogradNpu);
        if (name.rfind("npu::", 0) == 0) {
            if (name == "npu::npu_format_cast") {
                Put(op, kNpu, K::makeFromBoxedFunction<&FormatCast>());
            } else if (name == "npu::npu_dtype_cast" || name == "npu::_npu_dtype_cast") {
                Put(op, kNpu, K::makeFromBoxedFunction<&DtypeCast>());
            } else if (theirs) {
                Put(op, kNpu, K::makeFromBoxedFunction<&NpuOperator>());
            }
            return;
        }
        if (name.rfind("aten::", 0) != 0) {
            return;
        }
        if (IsSparseOnCpu(name)) {
            Put(op, DispatchKey::SparsePrivateUse1, K::makeFromBoxedFunction<&OnCpu>());
        }
        const bool cpu = op.hasKernelForDispatchKey(DispatchKey::CPU) || HasCpuBody(name);
        // The composite body has the gradient where there is no other formula for it.
        const bool formula = op.hasKernelForDispatchKey(DispatchKey::Autograd);
        if (op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd) &&
            !(cpu && formula)) {
            for (const auto &[key, has] :
                 {std::pair{kNpu, theirs}, {kAutogradNpu, theirAutograd}}) {
                if (has || theirs || theirAutograd) {
                    Put(op, key,
                        K::makeFromBoxedFunction<
                            &Through<DispatchKey::CompositeImplicitAutograd>>());
                }
            }
            return;
        }
        if (auto kernel = CellKernel(name)) {
            Put(op, kNpu, std::move(*kernel));
        } else if (cpu) {
            Put(op, kNpu, K::makeFromBoxedFunction<&OnCpu>());
        } else if (op.hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd)) {
            if (theirs) {
                Put(op, kNpu,
                    K::makeFromBoxedFunction<&Through<DispatchKey::CompositeExplicitAutograd>>());
            }
        } else if (op.hasKernelForDispatchKey(
                       DispatchKey::CompositeExplicitAutogradNonFunctional)) {
            if (theirs) {
                Put(op, kNpu,
                    K::makeFromBoxedFunction<
                        &Through<DispatchKey::CompositeExplicitAutogradNonFunctional>>());
            }
        } else if (theirs) {
            Put(op, kNpu, K::makeFromBoxedFunction<&NotSimulated>());
        }
        if (theirAutograd && formula) {
            Put(op, kAutogradNpu, K::makeFromBoxedFunction<&Through<DispatchKey::Autograd>>());
        }
    }
};

// Runs when aclInit loads this library, which the first use of the device does.
const bool registered = [] {
    struct Silent : c10::WarningHandler {
        void process(const c10::Warning &) override {
        }  // "overriding a previously registered kernel"
    } silent;
    const c10::WarningUtils::WarningHandlerGuard guard(&silent);
    Registrar registrar;
    for (const c10::OperatorName &name : c10::Dispatcher::singleton().getAllOpNames()) {
        if (const auto op = c10::Dispatcher::singleton().findOp(name)) {
            registrar.Register(*op);
        }
    }
    return true;
}();

}  // namespace
