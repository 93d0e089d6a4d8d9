"""What the runtime raises: one typed hierarchy."""

from ._native import C

Error = C.Error
UsageError = C.UsageError
OutOfResources = C.OutOfResources
DeviceError = C.DeviceError
KernelFault = C.KernelFault
OutOfMemory = C.OutOfMemory
Unsupported = C.Unsupported
CompileError = C.CompileError
InternalError = C.InternalError
ShuttingDown = C.ShuttingDown
