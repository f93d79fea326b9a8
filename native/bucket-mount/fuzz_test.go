package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const (
	fuzzedUidBase  = 1 << 28
	fuzzedUidCount = 65_536
)

func fuzzedMount(answer http.RoundTripper) *mount {
	return &mount{
		settings: settings{UidBase: fuzzedUidBase, UidCount: fuzzedUidCount, SpoolBytes: 1 << 20},
		platform: &platform{client: &http.Client{Transport: answer}, key: "key"},
		blocks:   make(chan struct{}, maxBlocks),
	}
}

// FuzzAttributes: whatever metadata an object has, the kernel gets a file of the kind that the platform says, or a symbolic
// link, of an id of the sandbox; and what is stored of its attributes is read as the same.
func FuzzAttributes(f *testing.F) {
	f.Add(false, "33188", "12", "0", "1700000000.000000042", int64(5))
	f.Add(true, "41471", "4294967295", "-1", "-1.5", int64(-1))
	f.Add(false, "040755", "65536", "x", "9223372036854775807.999999999", int64(1<<62))
	f.Add(false, "4294967295", "0", "0", "1.-00000001", int64(0))
	f.Add(false, "41471", "", "", "1.é", int64(0))
	f.Fuzz(func(t *testing.T, isFolder bool, mode, uid, gid, mtime string, size int64) {
		kind := kindFile
		if isFolder {
			kind = kindFolder
		}
		e := entry{Kind: kind, Size: size, ModifiedMs: size, Metadata: map[string]string{"mode": mode, "uid": uid, "gid": gid, "mtime": mtime}}
		a := e.attributes()
		again := (&entry{Kind: kind, Metadata: a.metadata()}).attributes()
		if again.mode != a.mode || again.uid != a.uid || again.gid != a.gid || !again.modified.Equal(a.modified) {
			t.Fatalf("%v became %v", a, again)
		}
		got := a.mode & unix.S_IFMT
		if isFolder != (got == unix.S_IFDIR) || !isFolder && got != unix.S_IFREG && got != unix.S_IFLNK {
			t.Fatalf("a %s has the mode %o", kind, a.mode)
		}
		var out fuse.Attr
		fuzzedMount(nil).fill(a, max(size, 0), &out)
		for _, id := range []uint32{out.Uid, out.Gid} {
			if id < fuzzedUidBase || id >= fuzzedUidBase+fuzzedUidCount {
				t.Fatalf("the host's id %d", id)
			}
		}
	})
}

// FuzzRanges: agrees with a map of bytes.
func FuzzRanges(f *testing.F) {
	f.Add([]byte{0, 4, 8, 12, 2, 6, 255, 5})
	f.Add([]byte{0, 255, 255, 0, 10, 10, 20, 30, 30, 40})
	f.Fuzz(func(t *testing.T, input []byte) {
		const size = 256
		have, held := ranges{}, [size]bool{}
		for len(input) >= 2 {
			start, end := int(input[0]), int(input[1])
			input = input[2:]
			if start == 255 {
				have = have.cut(int64(end))
				clear(held[end:])
				continue
			}
			have = have.add(int64(start), int64(end))
			for at := start; at < end; at++ {
				held[at] = true
			}
		}
		missing, count := [size]bool{}, int64(0)
		for _, each := range have.missing(size) {
			for at := each.start; at < each.end; at++ {
				missing[at] = true
			}
		}
		for at, is := range held {
			if is {
				count++
			}
			if missing[at] == is || have.contains(int64(at), int64(at)+1) != is {
				t.Fatalf("%v is wrong at %d", have, at)
			}
		}
		for index := 1; index < len(have); index++ {
			if have[index-1].end >= have[index].start {
				t.Fatalf("%v is not in order", have)
			}
		}
		if have.total() != count {
			t.Fatalf("%v holds %d bytes instead of %d", have, have.total(), count)
		}
	})
}

// FuzzNames: a name that the kernel passes on is refused, or reaches the platform as it is.
func FuzzNames(f *testing.F) {
	f.Add("a", "b c")
	f.Add("dir/é", "+&=;%2F?#")
	f.Add("", "\xff")
	f.Add("a/", strings.Repeat("x", 256))
	f.Fuzz(func(t *testing.T, folder, name string) {
		if strings.Contains(name, "/") {
			return // no name of the kernel has one
		}
		errno := checkName(name)
		if errno != nil {
			if errno != syscall.ENAMETOOLONG && errno != syscall.EINVAL {
				t.Fatal(errno)
			}
			return
		}
		var asked *http.Request
		m := fuzzedMount(roundTrip(func(request *http.Request) (*http.Response, error) {
			asked = request
			return answerOf(200, []byte("{}")), nil
		}))
		if _, err := m.platform.stat(context.Background(), join(folder, name)); err != nil {
			t.Fatal(err)
		}
		query, err := url.ParseQuery(asked.URL.RawQuery)
		if err != nil || asked.URL.Path != "/stat" || len(query) != 1 || len(query["path"]) != 1 {
			t.Fatalf("%q asks for %s (%v)", name, asked.URL, err)
		}
		path := query.Get("path")
		if path != join(folder, name) || path[strings.LastIndex(path, "/")+1:] != name {
			t.Fatalf("%q in %q is asked for as %q", name, folder, path)
		}
	})
}

// FuzzAnswers: whatever the platform answers, the program goes on, and the sandbox gets an error of the file system.
func FuzzAnswers(f *testing.F) {
	f.Add(uint16(200), []byte(`{"name":"a","kind":"file","size":5,"etag":"x","modified_ms":1,"metadata":{"mode":"33188"}}`))
	f.Add(uint16(200), []byte(`{"entries":[{"name":"a","kind":"folder"},{"name":"b","kind":"file","size":-1}],"next":null}`))
	f.Add(uint16(409), []byte(`{"errno":"ENOENT"}`))
	f.Add(uint16(403), []byte(`{"errno":"EPERM"}`))
	f.Add(uint16(500), []byte(`<html>`))
	f.Add(uint16(200), []byte(`{"entries":{},"next":1}`))
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		code := 200 + int(status)%400
		if code == http.StatusServiceUnavailable || code < 200 {
			return // asks again for half a minute
		}
		asked := 0
		m := fuzzedMount(roundTrip(func(*http.Request) (*http.Response, error) {
			asked++
			return answerOf(code, body), nil
		}))
		if code >= 300 && code < 400 {
			m.platform.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		}
		ctx := context.Background()
		root := newRoot(m)
		fs.NewNodeFS(root, &fs.Options{})
		found, err := m.platform.stat(ctx, "a")
		assertErrno(t, code, err)
		if err == nil {
			_ = found.attributes()
		}
		assertErrno(t, code, m.platform.assertAllowed(ctx))
		l := &listing{n: root, hasMore: true, pending: []string{"pending"}}
		l.fetch()
		names := 0
		for l.hasMore = false; l.HasNext(); names++ {
			if _, errno := l.Next(); errno != 0 {
				if code < 300 && errno != syscall.EIO {
					t.Fatal(errno)
				}
				break
			}
		}
		if names > len(body)+1 {
			t.Fatalf("%d names in %d bytes", names, len(body))
		}
		if asked > 3 {
			t.Fatalf("asked %d times", asked)
		}
	})
}

func assertErrno(t *testing.T, code int, err error) {
	t.Helper()
	errno := errnoOf(err)
	if err == nil {
		if code >= 300 {
			t.Fatalf("status %d is taken for success", code)
		}
		return
	}
	if code < 300 && errno != syscall.EIO {
		t.Fatalf("%v for an answer that cannot be read", errno)
	}
	known := errno == syscall.EIO
	for _, each := range errnos {
		known = known || each == errno
	}
	if !known {
		t.Fatalf("%s", strconv.Itoa(int(errno)))
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func answerOf(status int, body []byte) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(body)), Header: http.Header{}}
}
