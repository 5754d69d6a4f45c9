/* Status codes and the sentence that goes with them. Plain C. */
#ifndef CUPROOF_OPS_STATUS_H
#define CUPROOF_OPS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUPROOF_OPS_API __attribute__((visibility("default")))
#else
#define CUPROOF_OPS_API
#endif

typedef enum cuproof_ops_status {
  CUPROOF_OPS_OK = 0,
  /* An argument is wrong. Nothing was launched and nothing was written. */
  CUPROOF_OPS_INVALID_ARGUMENT = 1,
  /* The workspace is smaller than the query said. Nothing was launched. */
  CUPROOF_OPS_WORKSPACE_TOO_SMALL = 2,
  /* No GPU, or one for which this library has no code. Nothing was launched. */
  CUPROOF_OPS_UNSUPPORTED_DEVICE = 3,
  /* A call of CUDA failed; the sentence has its name and error. */
  CUPROOF_OPS_CUDA_ERROR = 4,
} cuproof_ops_status;

/* One line about this thread's last failure: argument, expected, got, what to do. Empty after a
   success. Valid until this thread's next call into the library. */
CUPROOF_OPS_API const char* cuproof_ops_last_error(void);

/* "CUPROOF_OPS_OK" and so on; "unknown status" for another number. */
CUPROOF_OPS_API const char* cuproof_ops_status_name(cuproof_ops_status status);

/* Does for one device all that CUDA would do lazily at a first launch: loads the machine code and
   sets function attributes. After it, every call of this library may be captured at once, in strict
   global mode too. Device is an ordinal; may be called often and from several threads. */
CUPROOF_OPS_API cuproof_ops_status cuproof_ops_prepare(int device);

/* "0.1.0 sm_80 sm_90 sm_100 sm_120": version and the machine code inside. */
CUPROOF_OPS_API const char* cuproof_ops_version(void);

#ifdef __cplusplus
}
#endif

#endif
