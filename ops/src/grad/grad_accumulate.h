// Size of the page that carries two addresses for each tensor.
#ifndef CUPROOF_OPS_GRAD_GRAD_ACCUMULATE_H
#define CUPROOF_OPS_GRAD_GRAD_ACCUMULATE_H

namespace cuproof::ops {

inline constexpr int kPagePairs = 1344;

}  // namespace cuproof::ops

#endif
