package gate

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// fsIocGetFSUUID is FS_IOC_GETFSUUID, _IOR(0x15, 0, struct fsuuid2). Its
// encoding is the same on the architectures that use the generic one.
const fsIocGetFSUUID = 0x80111500

// kernelUUID asks the kernel for the UUID of the file system fd is on.
func kernelUUID(fd int) (string, bool) {
	var arg struct {
		len  uint8
		uuid [16]byte
	}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fsIocGetFSUUID, uintptr(unsafe.Pointer(&arg)))
	if e != 0 || arg.len != 16 {
		return "", false
	}
	s := formatUUID(arg.uuid)
	return s, s != ""
}
