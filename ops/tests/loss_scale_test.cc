#include "cuproof/ops/loss_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "grad/grad_reference.h"
#include "launch.h"

namespace cuproof::ops::test {
namespace {

#include "loss_scale_cases.inc"

class LossScale : public GpuTest {
 protected:
  void ExpectUpdate(reference::LossScale before, float found_inf, float growth, float backoff,
                    int interval) {
    DeviceImage image;
    image.Add(&before.scale, 4, 4);
    image.Add(&before.growth_tracker, 4, 8);
    image.Add(&found_inf, 4, 12);
    image.Upload();
    cuproof_ops_loss_scale_params params{};
    params.scale = static_cast<float*>(image.at(0));
    params.growth_tracker = static_cast<int32_t*>(image.at(1));
    params.found_inf = static_cast<const float*>(image.at(2));
    params.growth_factor = growth;
    params.backoff_factor = backoff;
    params.growth_interval = interval;
    const auto after = reference::UpdateLossScale(before, found_inf, params);
    image.Expect(0, &after.scale);
    image.Expect(1, &after.growth_tracker);
    for (const Launch launch : kLaunches) {
      image.Restore();
      RunCall(launch,
              [&](cudaStream_t stream) { return cuproof_ops_loss_scale_update(&params, stream); });
      ASSERT_TRUE(image.IsAsExpected())
          << before.scale << " " << before.growth_tracker << " found " << found_inf << " growth "
          << growth << " backoff " << backoff << " interval " << interval;
    }
  }
};

TEST_F(LossScale, MatchesTheReferenceForTheProductOfAllAxes) {
  for (const float scale : k_scale) {
    for (const int tracker : k_growth_tracker) {
      for (const float found : k_found_inf) {
        for (const float growth : k_growth_factor) {
          for (const float backoff : k_backoff_factor) {
            for (const int interval : k_growth_interval) {
              ExpectUpdate({scale, tracker}, found, growth, backoff, interval);
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
}

TEST_F(LossScale, ANanFoundIsFound) { ExpectUpdate({1024, 5}, NAN, 2, 0.5f, 10); }

TEST_F(LossScale, AGraphCountsItsReplays) {
  const float scale = 1024;
  const int32_t tracker = 0;
  const float found = 0;
  DeviceImage image;
  image.Add(&scale, 4, 0);
  image.Add(&tracker, 4, 0);
  image.Add(&found, 4, 0);
  image.Upload();
  cuproof_ops_loss_scale_params params{};
  params.scale = static_cast<float*>(image.at(0));
  params.growth_tracker = static_cast<int32_t*>(image.at(1));
  params.found_inf = static_cast<const float*>(image.at(2));
  params.growth_factor = 2;
  params.backoff_factor = 0.25f;
  params.growth_interval = 3;
  const Graph graph(
      [&](cudaStream_t stream) { return cuproof_ops_loss_scale_update(&params, stream); });
  reference::LossScale state{scale, tracker};
  for (int step = 0; step < 20; ++step) {
    const float now = step % 7 == 5 ? 1 : 0;
    image.Write(2, &now);
    graph.Replay();
    state = reference::UpdateLossScale(state, now, params);
    image.Expect(0, &state.scale);
    image.Expect(1, &state.growth_tracker);
    image.Expect(2, &now);
    ASSERT_TRUE(image.IsAsExpected()) << "step " << step;
  }
}

}  // namespace
}  // namespace cuproof::ops::test
