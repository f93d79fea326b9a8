module svc.dev/sandbox-agent

go 1.26

toolchain go1.26.8
