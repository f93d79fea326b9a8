package sftp

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// Packet types of version 3 (draft-ietf-secsh-filexfer-02).
const (
	typeInit          = 1
	typeVersion       = 2
	typeOpen          = 3
	typeClose         = 4
	typeRead          = 5
	typeWrite         = 6
	typeLstat         = 7
	typeFstat         = 8
	typeSetstat       = 9
	typeFsetstat      = 10
	typeOpendir       = 11
	typeReaddir       = 12
	typeRemove        = 13
	typeMkdir         = 14
	typeRmdir         = 15
	typeRealpath      = 16
	typeStat          = 17
	typeRename        = 18
	typeReadlink      = 19
	typeSymlink       = 20
	typeExtended      = 200
	typeStatus        = 101
	typeHandle        = 102
	typeData          = 103
	typeName          = 104
	typeAttrs         = 105
	typeExtendedReply = 201
)

const (
	statusOK               = 0
	statusEOF              = 1
	statusNoSuchFile       = 2
	statusPermissionDenied = 3
	statusFailure          = 4
	statusBadMessage       = 5
	statusUnsupported      = 8
)

const (
	attrSize     = 1
	attrOwner    = 2
	attrMode     = 4
	attrTimes    = 8
	attrExtended = 1 << 31
)

var (
	errMalformed   = errors.New("malformed packet")
	errUnsupported = errors.New("unsupported operation")
	errEOF         = errors.New("end of file")
	errBadHandle   = errors.New("unknown handle")
	errTooMany     = errors.New("too many open handles")
	errNotAFile    = errors.New("not a regular file")
)

// parser takes fields from a packet. After the first missing field, it fails permanently.
type parser struct {
	rest   []byte
	failed bool
}

func (p *parser) take(n int) []byte {
	if p.failed || n < 0 || n > len(p.rest) {
		p.failed = true
		return nil
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

func (p *parser) uint32() uint32 {
	if field := p.take(4); field != nil {
		return binary.BigEndian.Uint32(field)
	}
	return 0
}

func (p *parser) uint64() uint64 {
	if field := p.take(8); field != nil {
		return binary.BigEndian.Uint64(field)
	}
	return 0
}

func (p *parser) bytes() []byte {
	length := p.uint32()
	if uint64(length) > uint64(len(p.rest)) {
		p.failed = true
		return nil
	}
	return p.take(int(length))
}

func (p *parser) string() string { return string(p.bytes()) }

// attributes are those that the client set; others stay unchanged.
type attributes struct {
	flags        uint32
	size         uint64
	uid, gid     uint32
	mode         uint32
	atime, mtime uint32
}

func (p *parser) attributes() attributes {
	a := attributes{flags: p.uint32()}
	if a.flags&attrSize != 0 {
		a.size = p.uint64()
	}
	if a.flags&attrOwner != 0 {
		a.uid, a.gid = p.uint32(), p.uint32()
	}
	if a.flags&attrMode != 0 {
		a.mode = p.uint32() & 0o7777
	}
	if a.flags&attrTimes != 0 {
		a.atime, a.mtime = p.uint32(), p.uint32()
	}
	if a.flags&attrExtended != 0 {
		for count := p.uint32(); count > 0 && !p.failed; count-- {
			p.bytes()
			p.bytes()
		}
	}
	return a
}

// reply is built in a buffer that the server reuses; its length is filled in at the end.
type reply struct{ buffer []byte }

func (r *reply) begin(kind byte, id uint32) {
	r.buffer = append(r.buffer[:0], 0, 0, 0, 0, kind)
	r.uint32(id)
}

func (r *reply) uint32(value uint32) { r.buffer = binary.BigEndian.AppendUint32(r.buffer, value) }
func (r *reply) uint64(value uint64) { r.buffer = binary.BigEndian.AppendUint64(r.buffer, value) }

func (r *reply) string(value string) {
	r.uint32(uint32(len(value)))
	r.buffer = append(r.buffer, value...)
}

func (r *reply) stat(stat *unix.Stat_t) {
	r.uint32(attrSize | attrOwner | attrMode | attrTimes)
	r.uint64(uint64(stat.Size))
	r.uint32(stat.Uid)
	r.uint32(stat.Gid)
	r.uint32(stat.Mode)
	r.uint32(uint32(stat.Atim.Sec))
	r.uint32(uint32(stat.Mtim.Sec))
}

func (r *reply) finish() []byte {
	binary.BigEndian.PutUint32(r.buffer, uint32(len(r.buffer)-4))
	return r.buffer
}

// statusOf maps an error to a status code of version 3.
func statusOf(err error) uint32 {
	var errno unix.Errno
	switch {
	case err == nil:
		return statusOK
	case errors.Is(err, errEOF):
		return statusEOF
	case errors.Is(err, errMalformed):
		return statusBadMessage
	case errors.Is(err, errUnsupported):
		return statusUnsupported
	case errors.As(err, &errno):
		switch errno {
		case unix.ENOENT, unix.ENOTDIR, unix.ELOOP:
			return statusNoSuchFile
		case unix.EACCES, unix.EPERM, unix.EROFS:
			return statusPermissionDenied
		}
	}
	return statusFailure
}
