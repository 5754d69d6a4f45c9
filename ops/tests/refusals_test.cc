// Wrong arguments: each is refused with the sentence of the specification, nothing is launched and
// nothing written. What is found before any call of CUDA is tried without a GPU, too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cuproof/ops/grad_accumulate.h"
#include "cuproof/ops/grad_norm.h"
#include "cuproof/ops/grad_scale.h"
#include "cuproof/ops/loss_scale.h"
#include "cuproof/ops/nonfinite_guard.h"
#include "launch.h"

namespace cuproof::ops::test {
namespace {

namespace norm {
#include "grad_norm_cases.inc"
}
namespace accumulate {
#include "grad_accumulate_cases.inc"
}
namespace scale {
#include "grad_scale_cases.inc"
}
namespace loss {
#include "loss_scale_cases.inc"
}
namespace guard {
#include "nonfinite_guard_cases.inc"
}

/// Arguments of all functions, right at first. Without a GPU the device pointers lead nowhere, and
/// optional ones are null.
struct Arguments {
  ListArrays arrays;
  cuproof_ops_tensor_list list{};
  const cuproof_ops_tensor_list* query_list = nullptr;
  size_t bytes = 0;
  size_t* query_bytes = nullptr;
  std::vector<float*> accumulators;
  float* const* accumulator_array = nullptr;
  cuproof_ops_norm_outputs out{};
  const float* factor = nullptr;
  float* found_inf = nullptr;
  cuproof_ops_bad_element* first_bad = nullptr;
  float* scale = nullptr;
  int32_t* growth_tracker = nullptr;
  float growth_factor = 2;
  float backoff_factor = 0.5f;
  int32_t growth_interval = 10;
  void* ring = nullptr;
  size_t ring_bytes = 384;
  uint32_t capacity = 10;
  void* workspace = nullptr;
  size_t workspace_bytes = 176;
  int32_t max_ctas = 0;
  bool params_null = false;
};

using Change = std::function<void(Arguments*)>;
using Function = std::function<cuproof_ops_status(Arguments*, cudaStream_t)>;
using Changes = std::map<std::string, Change>;

alignas(16) unsigned char host_memory[4096];

template <class T>
T* Moved(T* pointer, int bytes) {
  // A null output is made wrong as well.
  auto address = reinterpret_cast<uintptr_t>(pointer);
  if (address == 0) address = 0x10000;
  return reinterpret_cast<T*>(address + static_cast<uintptr_t>(bytes));
}

template <class T>
T* OnHost() {
  return reinterpret_cast<T*>(host_memory);
}

/// Misaligned, in host memory, null (in the map only where it is refused).
template <class T>
void AddPointer(Changes* changes, const std::string& name,
                const std::function<T*&(Arguments*)>& member) {
  (*changes)[name + " misaligned"] = [member](Arguments* a) { member(a) = Moved(member(a), 1); };
  (*changes)[name + " in host memory"] = [member](Arguments* a) { member(a) = OnHost<T>(); };
  (*changes)[name + " null"] = [member](Arguments* a) { member(a) = nullptr; };
}

#define POINTER(type, name, expression) \
  AddPointer<type>(changes, name, [](Arguments* a) -> type*& { return a->expression; })

void AddList(Changes* changes, const std::string& name) {
  (*changes)[name + ".count negative"] = [](Arguments* a) { a->list.count = -1; };
  (*changes)[name + ".count too large"] = [](Arguments* a) { a->list.count = int64_t{1} << 31; };
  (*changes)[name + ".elements null"] = [](Arguments* a) { a->list.elements = nullptr; };
  (*changes)[name + ".elements negative"] = [](Arguments* a) { a->arrays.elements[1] = -5; };
  (*changes)[name + ".elements too large"] = [](Arguments* a) {
    a->arrays.elements[1] = (int64_t{1} << 46) + 1;
  };
  (*changes)[name + ".data null"] = [](Arguments* a) { a->list.data = nullptr; };
  (*changes)[name + ".data element null"] = [](Arguments* a) { a->arrays.data[1] = nullptr; };
  (*changes)[name + ".data misaligned"] = [](Arguments* a) {
    a->arrays.data[0] = Moved(a->arrays.data[0], 2);
  };
  (*changes)[name + ".dtype null"] = [](Arguments* a) { a->list.dtype = nullptr; };
  (*changes)[name + ".dtype unknown"] = [](Arguments* a) { a->arrays.dtype[2] = 3; };
  (*changes)["params null"] = [](Arguments* a) { a->params_null = true; };
  (*changes)["max_ctas negative"] = [](Arguments* a) { a->max_ctas = -1; };
}

void AddWorkspace(Changes* changes) {
  POINTER(void, "workspace", workspace);
  (*changes)["workspace_bytes too small"] = [](Arguments* a) { --a->workspace_bytes; };
}

void AddQuery(Changes* changes, const std::string& name) {
  (*changes)["query bytes null"] = [](Arguments* a) { a->query_bytes = nullptr; };
  (*changes)["query " + name + " null"] = [](Arguments* a) { a->query_list = nullptr; };
  (*changes)["query " + name + ".elements negative"] = [](Arguments* a) {
    a->arrays.elements[1] = -5;
  };
}

void AddOutputs(Changes* changes) {
  POINTER(float, "out.total_norm", out.total_norm);
  POINTER(float, "out.tensor_norms", out.tensor_norms);
  POINTER(float, "out.found_inf", out.found_inf);
  POINTER(cuproof_ops_bad_element, "out.first_bad", out.first_bad);
  POINTER(const float, "out.loss_scale", out.loss_scale);
  POINTER(float, "out.factor", out.factor);
  POINTER(float, "out.grad_scale", out.grad_scale);
  (*changes)["out.max_norm NaN"] = [](Arguments* a) { a->out.max_norm = NAN; };
}

Changes NormChanges() {
  Changes made;
  AddList(&made, "grads");
  AddOutputs(&made);
  AddWorkspace(&made);
  AddQuery(&made, "grads");
  return made;
}

Changes AccumulateChanges() {
  Changes made = NormChanges();
  made["accumulators null"] = [](Arguments* a) { a->accumulator_array = nullptr; };
  made["accumulators element null"] = [](Arguments* a) { a->accumulators[1] = nullptr; };
  made["accumulators misaligned"] = [](Arguments* a) {
    a->accumulators[1] = Moved(a->accumulators[1], 2);
  };
  return made;
}

Changes ScaleChanges() {
  Changes made;
  Changes* changes = &made;
  AddList(changes, "grads");
  POINTER(const float, "factor", factor);
  POINTER(float, "found_inf", found_inf);
  return made;
}

Changes LossChanges() {
  Changes made;
  Changes* changes = &made;
  made["params null"] = [](Arguments* a) { a->params_null = true; };
  POINTER(float, "scale", scale);
  POINTER(int32_t, "growth_tracker", growth_tracker);
  POINTER(float, "found_inf", found_inf);
  made["growth_factor below 1"] = [](Arguments* a) { a->growth_factor = 0.5f; };
  made["growth_factor NaN"] = [](Arguments* a) { a->growth_factor = NAN; };
  made["backoff_factor 0"] = [](Arguments* a) { a->backoff_factor = 0; };
  made["backoff_factor over 1"] = [](Arguments* a) { a->backoff_factor = 1.5f; };
  made["growth_interval 0"] = [](Arguments* a) { a->growth_interval = 0; };
  return made;
}

Changes GuardChanges() {
  Changes made;
  Changes* changes = &made;
  AddList(changes, "tensors");
  POINTER(void, "ring", ring);
  POINTER(float, "found_inf", found_inf);
  POINTER(cuproof_ops_bad_element, "first_bad", first_bad);
  AddWorkspace(changes);
  AddQuery(changes, "tensors");
  made["init capacity 0"] = [](Arguments* a) { a->capacity = 0; };
  made["init capacity too large"] = [](Arguments* a) { a->capacity = (1u << 20) + 1; };
  made["init bytes too small"] = [](Arguments* a) { a->ring_bytes = 383; };
  for (const std::string call : {"init", "acknowledge"}) {
    made[call + " ring null"] = [](Arguments* a) { a->ring = nullptr; };
    made[call + " ring misaligned"] = [](Arguments* a) { a->ring = Moved(a->ring, 1); };
  }
  return made;
}

bool Begins(const std::string& id, const char* word) { return id.rfind(word, 0) == 0; }

cuproof_ops_status CallNorm(const std::string& id, Arguments* a, cudaStream_t stream) {
  if (Begins(id, "query")) return cuproof_ops_grad_norm_workspace(a->query_list, a->query_bytes);
  const cuproof_ops_grad_norm_params params{a->list, a->out, a->max_ctas};
  return cuproof_ops_grad_norm(a->params_null ? nullptr : &params, a->workspace, a->workspace_bytes,
                               stream);
}

cuproof_ops_status CallAccumulate(const std::string& id, Arguments* a, cudaStream_t stream) {
  if (Begins(id, "query")) {
    return cuproof_ops_grad_accumulate_workspace(a->query_list, a->query_bytes);
  }
  const cuproof_ops_grad_accumulate_params params{a->list, a->accumulator_array, 0, a->out,
                                                  a->max_ctas};
  return cuproof_ops_grad_accumulate(a->params_null ? nullptr : &params, a->workspace,
                                     a->workspace_bytes, stream);
}

cuproof_ops_status CallScale(const std::string&, Arguments* a, cudaStream_t stream) {
  const cuproof_ops_grad_scale_params params{a->list, a->factor, 0, a->found_inf, a->max_ctas};
  return cuproof_ops_grad_scale(a->params_null ? nullptr : &params, stream);
}

cuproof_ops_status CallLoss(const std::string&, Arguments* a, cudaStream_t stream) {
  const cuproof_ops_loss_scale_params params{a->scale,          a->growth_tracker,
                                             a->found_inf,      a->growth_factor,
                                             a->backoff_factor, a->growth_interval};
  return cuproof_ops_loss_scale_update(a->params_null ? nullptr : &params, stream);
}

cuproof_ops_status CallGuard(const std::string& id, Arguments* a, cudaStream_t stream) {
  if (Begins(id, "query")) {
    return cuproof_ops_nonfinite_guard_workspace(a->query_list, a->query_bytes);
  }
  if (Begins(id, "init")) {
    return cuproof_ops_guard_ring_init(a->ring, a->ring_bytes, a->capacity, stream);
  }
  if (Begins(id, "acknowledge")) return cuproof_ops_guard_ring_acknowledge(a->ring, 1, stream);
  const cuproof_ops_nonfinite_guard_params params{a->list, a->ring, a->found_inf, a->first_bad,
                                                  1,       1,       a->max_ctas};
  return cuproof_ops_nonfinite_guard(a->params_null ? nullptr : &params, a->workspace,
                                     a->workspace_bytes, stream);
}

using CallById = cuproof_ops_status (*)(const std::string&, Arguments*, cudaStream_t);

constexpr uint8_t kTypes[] = {CUPROOF_OPS_F32, CUPROOF_OPS_F16, CUPROOF_OPS_BF16};

void SetArrays(Arguments* a) {
  a->list = a->arrays.get();
  a->query_list = &a->list;
  a->query_bytes = &a->bytes;
  a->accumulator_array = a->accumulators.data();
}

/// Right as far as it can be seen without a GPU.
std::unique_ptr<Arguments> WithoutGpu() {
  auto made = std::make_unique<Arguments>();
  void* nowhere = reinterpret_cast<void*>(0x10000);
  for (const uint8_t dtype : kTypes) {
    made->arrays.data.push_back(nowhere);
    made->arrays.elements.push_back(1000);
    made->arrays.dtype.push_back(dtype);
    made->accumulators.push_back(static_cast<float*>(nowhere));
  }
  made->workspace = made->ring = nowhere;
  made->factor = made->scale = static_cast<float*>(nowhere);
  SetArrays(made.get());
  return made;
}

void ExpectRefused(const Refusal& refusal, cuproof_ops_status status) {
  EXPECT_EQ(status, refusal.status) << refusal.id;
  const std::string said = cuproof_ops_last_error();
  EXPECT_EQ(said.substr(0, std::strlen(refusal.says)), refusal.says) << refusal.id;
}

template <size_t kCount>
void ExpectRefusalsWithoutGpu(const Refusal (&refusals)[kCount], const Changes& changes,
                              CallById call) {
  for (const Refusal& refusal : refusals) {
    ASSERT_TRUE(changes.contains(refusal.id)) << "no test for '" << refusal.id << "'";
    if (refusal.gpu) continue;
    const auto arguments = WithoutGpu();
    // Only there it is not optional.
    if (!Begins(refusal.id, "ring") && !Begins(refusal.id, "init") &&
        !Begins(refusal.id, "acknowledge")) {
      arguments->ring = nullptr;
    }
    changes.at(refusal.id)(arguments.get());
    ExpectRefused(refusal, call(refusal.id, arguments.get(), nullptr));
  }
  // A change that no specification names would be tried by nobody; null outputs are allowed.
  for (const auto& [id, change] : changes) {
    bool named = id.ends_with(" null");
    for (const Refusal& refusal : refusals) named = named || id == refusal.id;
    EXPECT_TRUE(named) << "no [[error]] with id '" << id << "'";
  }
}

TEST(Refusals, GradNorm) { ExpectRefusalsWithoutGpu(norm::kRefusals, NormChanges(), CallNorm); }
TEST(Refusals, GradAccumulate) {
  ExpectRefusalsWithoutGpu(accumulate::kRefusals, AccumulateChanges(), CallAccumulate);
}
TEST(Refusals, GradScale) { ExpectRefusalsWithoutGpu(scale::kRefusals, ScaleChanges(), CallScale); }
TEST(Refusals, LossScale) { ExpectRefusalsWithoutGpu(loss::kRefusals, LossChanges(), CallLoss); }
TEST(Refusals, NonfiniteGuard) {
  ExpectRefusalsWithoutGpu(guard::kRefusals, GuardChanges(), CallGuard);
}

TEST(Refusals, ASuccessEmptiesTheSentence) {
  EXPECT_EQ(cuproof_ops_grad_norm(nullptr, nullptr, 0, nullptr), CUPROOF_OPS_INVALID_ARGUMENT);
  EXPECT_STRNE(cuproof_ops_last_error(), "");
  const auto arguments = WithoutGpu();
  EXPECT_EQ(cuproof_ops_grad_norm_workspace(&arguments->list, &arguments->bytes), CUPROOF_OPS_OK);
  EXPECT_STREQ(cuproof_ops_last_error(), "");
  EXPECT_EQ(arguments->bytes, 176u);
}

TEST(Refusals, WithoutAGpuEachCallSaysSo) {
  if (NoGpuReason().empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(cuproof_ops_prepare(0), CUPROOF_OPS_UNSUPPORTED_DEVICE);
  EXPECT_NE(std::string(cuproof_ops_last_error()).find("no usable CUDA device: "),
            std::string::npos);
  for (const CallById call : {CallNorm, CallAccumulate, CallScale, CallLoss, CallGuard}) {
    const auto arguments = WithoutGpu();
    EXPECT_EQ(call("", arguments.get(), nullptr), CUPROOF_OPS_UNSUPPORTED_DEVICE)
        << cuproof_ops_last_error();
  }
}

TEST(Refusals, VersionNamesTheMachineCode) {
  const std::string version = cuproof_ops_version();
  EXPECT_TRUE(Begins(version, "0.1.0 sm_")) << version;
}

class RefusalsOnGpu : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    for (size_t i = 0; i < std::size(kTypes); ++i) {
      const auto dtype = static_cast<cuproof_ops_dtype>(kTypes[i]);
      const auto tensor = MakeTensor(dtype, 1000, "normal", i);
      image_.Add(tensor.bytes.data(), tensor.bytes.size(), 0);
    }
    for (size_t i = 0; i < std::size(kTypes); ++i) image_.AddPoison(4000);
    for (int i = 0; i < 16; ++i) image_.AddPoison(4096);
    image_.Upload();
  }

  std::unique_ptr<Arguments> Valid() {
    auto made = std::make_unique<Arguments>();
    int part = 0;
    for (const uint8_t dtype : kTypes) {
      made->arrays.data.push_back(image_.at(part++));
      made->arrays.elements.push_back(1000);
      made->arrays.dtype.push_back(dtype);
    }
    for (size_t i = 0; i < std::size(kTypes); ++i) {
      made->accumulators.push_back(static_cast<float*>(image_.at(part++)));
    }
    const auto next = [&] { return static_cast<float*>(image_.at(part++)); };
    made->out.total_norm = next();
    made->out.tensor_norms = next();
    made->out.found_inf = next();
    made->out.first_bad = reinterpret_cast<cuproof_ops_bad_element*>(next());
    made->out.loss_scale = next();
    made->out.factor = next();
    made->out.grad_scale = next();
    made->factor = next();
    made->found_inf = next();
    made->first_bad = reinterpret_cast<cuproof_ops_bad_element*>(next());
    made->scale = next();
    made->growth_tracker = reinterpret_cast<int32_t*>(next());
    made->ring = next();
    made->workspace = next();
    SetArrays(made.get());
    return made;
  }

  template <size_t kCount>
  void ExpectRefusals(const Refusal (&refusals)[kCount], const Changes& changes, CallById call) {
    // The call is right but for the one change: unchanged it is taken.
    const auto valid = Valid();
    EXPECT_GT(CountNodes([&](cudaStream_t stream) { return call("", valid.get(), stream); }), 0u)
        << cuproof_ops_last_error();
    for (const Refusal& refusal : refusals) {
      const auto arguments = Valid();
      changes.at(refusal.id)(arguments.get());
      EXPECT_EQ(CountNodes([&](cudaStream_t stream) {
                  const auto status = call(refusal.id, arguments.get(), stream);
                  ExpectRefused(refusal, status);
                  return status;
                }),
                0u)
          << refusal.id;
      ExpectRefused(refusal, call(refusal.id, arguments.get(), TestStream()));
    }
    CUDA_CHECK(cudaStreamSynchronize(TestStream()));
    EXPECT_TRUE(image_.IsAsExpected()) << "something was written";
  }

  DeviceImage image_;
};

TEST_F(RefusalsOnGpu, GradNorm) { ExpectRefusals(norm::kRefusals, NormChanges(), CallNorm); }
TEST_F(RefusalsOnGpu, GradAccumulate) {
  ExpectRefusals(accumulate::kRefusals, AccumulateChanges(), CallAccumulate);
}
TEST_F(RefusalsOnGpu, GradScale) { ExpectRefusals(scale::kRefusals, ScaleChanges(), CallScale); }
TEST_F(RefusalsOnGpu, LossScale) { ExpectRefusals(loss::kRefusals, LossChanges(), CallLoss); }
TEST_F(RefusalsOnGpu, NonfiniteGuard) {
  ExpectRefusals(guard::kRefusals, GuardChanges(), CallGuard);
}

TEST_F(RefusalsOnGpu, DevicesThatAreNotThere) {
  EXPECT_EQ(cuproof_ops_prepare(-1), CUPROOF_OPS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(cuproof_ops_last_error()).find("device: expected 0 to "),
            std::string::npos);
  EXPECT_EQ(cuproof_ops_prepare(10000), CUPROOF_OPS_INVALID_ARGUMENT);
  EXPECT_EQ(cuproof_ops_prepare(0), CUPROOF_OPS_OK) << cuproof_ops_last_error();
}

}  // namespace
}  // namespace cuproof::ops::test
