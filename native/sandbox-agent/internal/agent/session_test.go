package agent

import "testing"

// A request for a session whose shell is starting gets that session, or an error if the start fails.
func TestASessionThatIsBeingMadeIsWaitedFor(t *testing.T) {
	for _, made := range []bool{true, false} {
		a := &agent{sessionTable: newSessionTable()}
		if failed := a.reserve("shared"); failed != nil {
			t.Fatal(failed)
		}
		asked := make(chan struct{})
		found := make(chan *session)
		go func() {
			close(asked)
			found <- a.find("shared")
		}()
		<-asked
		var want *session
		if made {
			want = a.keep(&request{Session: "shared"}, nil)
		} else {
			a.release("shared")
		}
		if got := <-found; got != want {
			t.Errorf("started %v: found %v, want %v", made, got, want)
		}
	}
}
