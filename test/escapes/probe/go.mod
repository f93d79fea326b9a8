module svc.test/probe

go 1.24
