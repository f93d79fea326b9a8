package agent

import "testing"

func TestUsersAreParsedWithSuspicion(t *testing.T) {
	found := parseUser("app:x:1000:1001:App:/home/app/../app:/bin/sh\n")
	if found == nil || *found != (user{name: "app", uid: 1000, gid: 1001, home: "/home/app", shell: "/bin/sh"}) {
		t.Errorf("got %v", found)
	}
	for _, line := range []string{
		"", "app", ":x:1:1::/:/bin/sh", "app:x:-1:1::/:/bin/sh", "app:x:4294967295:1::/:/bin/sh", "app:x:one:1::/:/bin/sh",
	} {
		if found := parseUser(line); found != nil {
			t.Errorf("%q is %v", line, found)
		}
	}
	if found := parseUser("app:x:1:1::relative:/bin/sh"); found == nil || found.home != "/" {
		t.Errorf("a relative home is %v", found)
	}
}

func TestNamesOfNewUsersFitEveryTool(t *testing.T) {
	for name, fits := range map[string]bool{
		"user": true, "a-b_1": true, "": false, "Root": false, "1a": false, "-a": false, "a:b": false, "a\nb": false, "a/b": false,
	} {
		if isUserName(name) != fits {
			t.Errorf("%q: %v", name, !fits)
		}
	}
}
