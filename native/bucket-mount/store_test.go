package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// storeOfTest answers like the platform's side of the protocol, from objects in memory.
type storeOfTest struct {
	mu       sync.Mutex
	objects  map[string]*objectOfTest
	versions int
}

type objectOfTest struct {
	data     []byte
	etag     string
	metadata map[string]string
}

func newStoreOfTest() *storeOfTest { return &storeOfTest{objects: map[string]*objectOfTest{}} }

// mountOf returns a mount with a spool of its own.
func mountOf(t testing.TB, s *storeOfTest) *mount {
	folder, err := os.Open(os.TempDir()) // files of a spool have no names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	m := fuzzedMount(s)
	m.spool, m.appendAtLeast = int(folder.Fd()), 8
	return m
}

// put stores an object as another writer does.
func (s *storeOfTest) put(path string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(path, data, nil)
}

func (s *storeOfTest) store(path string, data []byte, metadata map[string]string) {
	s.versions++
	s.objects[path] = &objectOfTest{append([]byte{}, data...), strconv.Itoa(s.versions), metadata}
}

func (s *storeOfTest) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status, answer := 409, any(nil)
	if int64(len(body)) == request.ContentLength {
		status, answer = s.perform(request, body)
	}
	if content, isBytes := answer.([]byte); isBytes {
		return answerOf(status, content), nil
	}
	content, err := json.Marshal(answer)
	return answerOf(status, content), err
}

func errnoAnswer(errno string) (int, any) { return 409, map[string]string{"errno": errno} }

func (s *storeOfTest) perform(request *http.Request, body []byte) (int, any) {
	query, match := request.URL.Query(), strings.Trim(request.Header.Get("If-Match"), `"`)
	path := query.Get("path")
	found := s.objects[path]
	metadata := map[string]string{}
	content, _ := base64.StdEncoding.DecodeString(request.Header.Get("X-Metadata"))
	_ = json.Unmarshal(content, &metadata)
	switch request.URL.Path {
	case "/lease":
	case "/stat":
		if found == nil {
			return errnoAnswer("ENOENT")
		}
		return 200, entryOf(path, found)
	case "/read":
		if found == nil || found.etag != match {
			return errnoAnswer("ESTALE")
		}
		from, to, _ := strings.Cut(strings.TrimPrefix(request.Header.Get("Range"), "bytes="), "-")
		first, _ := strconv.Atoi(from)
		last, _ := strconv.Atoi(to)
		return 200, append([]byte{}, found.data[first:last+1]...)
	case "/write":
		s.store(path, body, metadata)
		return 200, entryOf(path, s.objects[path])
	case "/append":
		keep, _ := strconv.Atoi(query.Get("keep"))
		if found == nil || found.etag != match || keep > len(found.data) {
			return errnoAnswer("ESTALE")
		}
		s.store(path, append(found.data[:keep:keep], body...), metadata)
		return 200, entryOf(path, s.objects[path])
	case "/attributes":
		if found == nil {
			return errnoAnswer("ENOENT")
		}
		found.metadata = metadata
		return 200, entryOf(path, found)
	case "/rename":
		from := s.objects[query.Get("from")]
		if from == nil {
			return errnoAnswer("ENOENT")
		}
		if query.Has("new") && s.objects[query.Get("to")] != nil {
			return errnoAnswer("EEXIST")
		}
		delete(s.objects, query.Get("from"))
		s.objects[query.Get("to")] = from
	case "/remove":
		if found == nil {
			return errnoAnswer("ENOENT")
		}
		delete(s.objects, path)
	default:
		return errnoAnswer("EINVAL")
	}
	return 200, map[string]string{}
}

func entryOf(path string, o *objectOfTest) entry {
	name := path[strings.LastIndex(path, "/")+1:]
	return entry{Name: name, Kind: kindFile, Size: int64(len(o.data)), Etag: o.etag, Metadata: o.metadata}
}
