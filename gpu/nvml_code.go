package gpu

import "fmt"

// code is a return code of NVML (nvmlReturn_t). The texts are ours: the driver's
// own are terse, and asking for them is one more symbol that may be missing.
type code int

const (
	codeSuccess            code = 0
	codeUninitialized      code = 1
	codeNotSupported       code = 3
	codeNoPermission       code = 4
	codeNotFound           code = 6
	codeDriverNotLoaded    code = 9
	codeLibraryNotFound    code = 12
	codeFunctionNotFound   code = 13
	codeGPUIsLost          code = 15
	codeResetRequired      code = 16
	codeOperatingSystem    code = 17
	codeVersionMismatch    code = 18 // driver and library
	codeStructVersionWrong code = 25 // ARGUMENT_VERSION_MISMATCH
	codeGPUNotFound        code = 28
	codeUnknown            code = 999
)

var codeTexts = map[code]string{
	codeUninitialized:    "the NVIDIA library is not initialised",
	codeNotSupported:     "not supported on this GPU",
	codeNoPermission:     "the NVIDIA driver gives no permission: run as a user who may open /dev/nvidiactl",
	codeDriverNotLoaded:  "the NVIDIA driver is not loaded: load its kernel module, or give the container access to the GPU",
	codeLibraryNotFound:  "no NVIDIA driver here",
	codeFunctionNotFound: "the driver library is too old for this",
	codeGPUIsLost:        "GPU lost (code 15): reset it or reboot",
	codeResetRequired:    "GPU needs a reset (code 16)",
	codeOperatingSystem:  "the operating system blocks the GPU: check the container's access to its devices",
	codeVersionMismatch:  "driver and library versions differ: reload the driver or reboot",
	codeGPUNotFound:      "driver present, no GPU visible",
	codeUnknown:          "the NVIDIA driver reports an unknown error (code 999): the GPU may be lost, or the container lost its access",
}

// Error is a sentence for the GPU panel.
func (c code) Error() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	return fmt.Sprintf("NVML error %d", int(c))
}

// lost tells that the device answers nothing any more.
func (c code) lost() bool { return c == codeGPUIsLost || c == codeResetRequired }

// lasting answers stay the same until something is changed by hand: asking again
// each second would be useless.
func (c code) lasting() bool {
	return c == codeNotSupported || c == codeNoPermission || c == codeFunctionNotFound
}
