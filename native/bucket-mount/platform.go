package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// unreachableLimit allows for a restart of the platform.
	unreachableLimit = 30 * time.Second
	retryEvery       = 100 * time.Millisecond
	retryAtMost      = time.Second
	headerLimit      = 5 * time.Minute
	maxAnswerBytes   = 8 << 20
	// leaseTime is how long cached data is served after the platform last allowed a request.
	leaseTime = 750 * time.Millisecond
	idleLimit = 30 * time.Second
)

// platform sends requests to the platform's socket. It makes no access decisions.
type platform struct {
	client  *http.Client
	key     string
	allowed atomic.Int64 // time of the last allowed request, in nanoseconds
}

// call is one request. Its body can be read again for a retry.
type call struct {
	method, op string
	query      url.Values
	metadata   map[string]string
	match      string
	from, to   int64 // range to read, if to > 0
	body       io.ReaderAt
	size       int64
}

var errnos = map[string]syscall.Errno{
	"EACCES": syscall.EACCES, "EDQUOT": syscall.EDQUOT, "EEXIST": syscall.EEXIST, "EFBIG": syscall.EFBIG,
	"EINVAL": syscall.EINVAL, "EIO": syscall.EIO, "EISDIR": syscall.EISDIR, "ENAMETOOLONG": syscall.ENAMETOOLONG,
	"ENOENT": syscall.ENOENT, "ENOSPC": syscall.ENOSPC, "ENOTDIR": syscall.ENOTDIR, "ENOTEMPTY": syscall.ENOTEMPTY,
	"EROFS": syscall.EROFS, "ESTALE": syscall.ESTALE,
}

func newPlatform(socket, key string) *platform {
	dialer := net.Dialer{}
	return &platform{key: key, client: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost:   16,
		MaxConnsPerHost:       64,
		IdleConnTimeout:       idleLimit,
		DisableCompression:    true,
		ResponseHeaderTimeout: headerLimit,
		WriteBufferSize:       256 * 1024,
		ReadBufferSize:        256 * 1024,
	}}}
}

// send returns the response of a successful call; the caller closes it. It retries while the platform is unreachable.
// repeated reports whether an earlier attempt may have taken effect.
func (p *platform) send(ctx context.Context, c call) (response *http.Response, repeated bool, err error) {
	deadline, wait := time.Now().Add(unreachableLimit), retryEvery
	for {
		response, err = p.once(ctx, c)
		var refused refusal // not syscall.Errno, which also matches connection errors
		if err == nil || errors.As(err, &refused) || ctx.Err() != nil {
			break
		}
		if time.Now().After(deadline) {
			return nil, repeated, syscall.EIO
		}
		repeated = true
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, retryAtMost)
	}
	if err != nil && ctx.Err() != nil {
		err = syscall.EINTR
	}
	return response, repeated, err
}

func (p *platform) once(ctx context.Context, c call) (*http.Response, error) {
	var body io.Reader
	if c.body != nil {
		body = io.NewSectionReader(c.body, 0, c.size)
	}
	request, err := http.NewRequestWithContext(ctx, c.method, "http://platform/"+c.op+"?"+c.query.Encode(), body)
	if err != nil {
		return nil, refusal{syscall.EINVAL}
	}
	request.ContentLength = c.size
	request.Header.Set("Authorization", "Bearer "+p.key)
	if c.match != "" {
		request.Header.Set("If-Match", `"`+c.match+`"`)
	}
	if c.to > 0 {
		request.Header.Set("Range", "bytes="+strconv.FormatInt(c.from, 10)+"-"+strconv.FormatInt(c.to-1, 10))
	}
	if c.metadata != nil {
		content, _ := json.Marshal(c.metadata)
		request.Header.Set("X-Metadata", base64.StdEncoding.EncodeToString(content))
	}
	asked := time.Now()
	response, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		p.allowed.Store(asked.UnixNano())
		return response, nil
	}
	defer response.Body.Close()
	return nil, refusalOf(response)
}

// refusal is an error response of the platform.
type refusal struct{ errno syscall.Errno }

func (r refusal) Error() string { return r.errno.Error() }
func (r refusal) Unwrap() error { return r.errno }

var errUnavailable = errors.New("the platform is unavailable")

func refusalOf(response *http.Response) error {
	var answer struct {
		Errno string `json:"errno"`
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil || response.StatusCode == http.StatusServiceUnavailable {
		return errUnavailable
	}
	_ = json.Unmarshal(content, &answer)
	if errno, known := errnos[answer.Errno]; known {
		return refusal{errno}
	}
	return refusal{syscall.EIO}
}

// ask decodes the response into out unless it is nil.
func (p *platform) ask(ctx context.Context, c call, answer any) (repeated bool, err error) {
	response, repeated, err := p.send(ctx, c)
	if err != nil {
		return repeated, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return repeated, syscall.EIO
	}
	if answer == nil {
		return repeated, nil
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return repeated, syscall.EIO
	}
	return repeated, nil
}

// assertAllowed asks the platform again unless it allowed a request within the lease time.
func (p *platform) assertAllowed(ctx context.Context) error {
	if time.Since(time.Unix(0, p.allowed.Load())) < leaseTime {
		return nil
	}
	_, err := p.ask(ctx, call{method: http.MethodGet, op: "lease"}, nil)
	return err
}

func (p *platform) stat(ctx context.Context, path string) (*entry, error) {
	var found entry
	_, err := p.ask(ctx, call{method: http.MethodGet, op: "stat", query: url.Values{"path": {path}}}, &found)
	return &found, err
}

// read returns a stream of a byte range of the object in this version.
func (p *platform) read(ctx context.Context, path, etag string, from, to int64) (io.ReadCloser, error) {
	c := call{method: http.MethodGet, op: "read", query: url.Values{"path": {path}}, match: etag, from: from, to: to}
	response, _, err := p.send(ctx, c)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// errnoOf maps an error to the errno that the sandbox sees.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if err == nil {
		return 0
	}
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}

func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return strings.TrimSuffix(folder, "/") + "/" + name
}
