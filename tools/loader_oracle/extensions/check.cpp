// The smallest use of c10: a check with a message. Its names have std::string in them.
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <string>

extern "C" __attribute__((visibility("default"))) int check_size(long size, const char* name) {
  TORCH_CHECK(size > 0, "size of ", std::string(name), " is ", size);
  TORCH_INTERNAL_ASSERT(c10::elementSize(c10::ScalarType::Float) == 4);
  if (size > 1000) C10_THROW_ERROR(ValueError, std::string(name) + " is too large");
  return 0;
}
