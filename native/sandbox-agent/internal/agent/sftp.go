package agent

import "svc.dev/sandbox-agent/internal/sftp"

const sftpChunk = 64 << 10

// serveSftp serves SFTP over the stream, with the rights and the working folder of a shell.
func serveSftp(s *stream) (any, *failure) {
	s.transfer()
	input := &inboxReader{stream: s}
	output := &streamWriter{stream: s, buffer: make([]byte, dataHead+sftpChunk)}
	if err := sftp.Serve(input, output, usualDirectory(rootHome(passwdFile))); err != nil {
		return nil, fail("IO_ERROR", err.Error())
	}
	return map[string]any{}, nil
}

// streamWriter sends bytes as data frames and waits for credit.
type streamWriter struct {
	stream *stream
	buffer []byte
}

func (w *streamWriter) Write(p []byte) (int, error) {
	for sent := 0; sent < len(p); {
		n := copy(w.buffer[dataHead:], p[sent:])
		if !w.stream.sendData(channelStdout, w.buffer, n) {
			return sent, errAborted
		}
		sent += n
	}
	return len(p), nil
}
