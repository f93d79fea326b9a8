package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"svc.dev/sandbox-agent/internal/frame"
	"svc.dev/sandbox-agent/internal/fsat"
	"svc.dev/sandbox-agent/internal/tarseed"
)

const (
	fuzzedEntries = 200
	fuzzedBytes   = 1 << 20
)

// nowhere returns a connection whose peer discards everything.
func nowhere(t testing.TB) *conn {
	file, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return newConn(&agent{sessionTable: newSessionTable(), processes: newProcessTable(), quit: make(chan struct{})}, file)
}

// FuzzExtract checks that no archive writes outside its folder or beyond its limits, and that no descriptor stays open.
func FuzzExtract(f *testing.F) {
	for _, archive := range tarseed.Archives() {
		f.Add(archive, uint16(0))
		f.Add(archive, uint16(700))
	}
	f.Fuzz(func(t *testing.T, archive []byte, piece uint16) {
		base := t.TempDir()
		folder := filepath.Join(base, "one", "staging")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		before := openDescriptors(t)
		root, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		s := newStream(nowhere(t), 1)
		s.in.widen(len(archive) * 2)
		for rest := tarseed.Repair(archive); len(rest) > 0; {
			size := min(int(piece)+1, len(rest), frame.MaxDataBytes)
			if piece == 0 {
				size = min(len(rest), frame.MaxDataBytes)
			}
			_ = s.in.push(append([]byte{channelStdin}, rest[:size]...))
			rest = rest[size:]
		}
		s.in.finish()
		x := newExtraction(root, s, &request{MaxEntries: fuzzedEntries, MaxBytes: fuzzedBytes, MaxRatio: 100})
		if err := x.run(); err == nil {
			placeBeside(t, root, filepath.Join(base, "one"))
		}
		_ = unix.Close(root)
		_ = s.conn.file.Close()
		if now := openDescriptors(t); now != before {
			t.Fatalf("%d open descriptors became %d", before, now)
		}
		if x.entries > fuzzedEntries+1 || x.bytes > fuzzedBytes {
			t.Fatalf("%d entries, %d bytes", x.entries, x.bytes)
		}
		assertInside(t, base)
	})
}

// placeBeside moves the extracted files into a folder that already has some of the names.
func placeBeside(t *testing.T, root int, parent string) {
	target := filepath.Join(parent, "target")
	if err := os.MkdirAll(filepath.Join(target, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../..", filepath.Join(target, "up")); err != nil {
		t.Fatal(err)
	}
	to, err := unix.Open(target, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(to)
	var stat unix.Stat_t
	if err := unix.Fstat(root, &stat); err != nil {
		t.Fatal(err)
	}
	_, _ = unix.Seek(root, 0, 0)
	m := &placement{device: uint64(stat.Dev)}
	if m.check(root, to, "") == nil {
		if err := m.place(root, to); err != nil {
			t.Fatalf("the check passed, but placing failed: %v", err)
		}
	}
}

func assertInside(t *testing.T, base string) {
	t.Helper()
	for folder, most := range map[string][]string{base: {"one"}, filepath.Join(base, "one"): {"staging", "target"}} {
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) > len(most) {
			t.Fatalf("%s contains %v (%v)", folder, entries, err)
		}
		for _, entry := range entries {
			if entry.Name() != most[0] && entry.Name() != most[len(most)-1] {
				t.Fatalf("%s contains %s", folder, entry.Name())
			}
		}
	}
	if _, err := os.Lstat("/outside"); err == nil {
		t.Fatal("/outside was created")
	}
}

func openDescriptors(t *testing.T) int {
	folder, err := unix.Open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(folder)
	names, err := fsat.Names(folder)
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// FuzzDispatch checks that streams and their buffers stay within their limits for any sequence of frames. Operations
// are chosen by the trusted platform, so each is replaced by an unknown one.
func FuzzDispatch(f *testing.F) {
	open := func(payload string) []byte { return written(frame.Open, 5, []byte(payload)) }
	data := written(frame.Data, 1, append([]byte{channelStdin}, "hello"...))
	f.Add(bytes.Join([][]byte{open(`{"op":"file.list","path":"/","argv":["a"],"env":{"A":"b"},"when":{}}`), data, written(frame.Credit, 1, []byte{0, 1, 0, 0})}, nil))
	f.Add(bytes.Join([][]byte{written(frame.Control, 1, []byte(`{"type":"resize","cols":80,"rows":24}`)), written(frame.Control, 1, []byte(`{"type":"eof"}`)), data}, nil))
	f.Add(bytes.Join([][]byte{written(frame.Reset, 1, nil), written(frame.Ping, 0, []byte("12345678")), written(frame.Data, 2, nil)}, nil))
	f.Add(bytes.Repeat(written(frame.Data, 1, make([]byte, 60_000)), 6))
	f.Add(bytes.Repeat(written(frame.Credit, 2, []byte{0x3f, 0xff, 0xff, 0xff}), 3))
	f.Fuzz(func(t *testing.T, input []byte) {
		c := nowhere(t)
		for id := range uint32(3) {
			c.streams[id+1] = newStream(c, id+1)
		}
		kept := []*stream{c.streams[1], c.streams[2], c.streams[3]}
		reader := frame.NewReader(bytes.NewReader(input))
		for {
			next, err := reader.Read()
			if err != nil {
				break
			}
			var asked request
			if next.Type == frame.Open && json.Unmarshal(next.Payload, &asked) == nil {
				asked.Op = "none"
				next.Payload, _ = json.Marshal(asked)
			}
			if !c.dispatch(next) {
				break
			}
		}
		for _, s := range kept {
			s.in.mu.Lock()
			held := 0
			for _, payload := range s.in.payloads {
				held += len(payload)
			}
			if held > s.in.window || len(s.early) > maxEarlyControls {
				t.Fatalf("a stream holds %d bytes and %d controls", held, len(s.early))
			}
			s.in.mu.Unlock()
		}
		c.close()
	})
}

func written(kind byte, stream uint32, payload []byte) []byte {
	out := append(make([]byte, frame.HeaderBytes), payload...)
	frame.PutHeader(out, kind, stream, len(payload))
	return out
}
