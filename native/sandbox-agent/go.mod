module svc.dev/sandbox-agent

go 1.26.0

toolchain go1.26.8

require golang.org/x/sys v0.49.0
