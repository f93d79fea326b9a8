package host

import "errors"

// replaceRestriction sets or replaces the firewall table of a running sandbox. The state records it first, so that a
// cleanup of the sandbox removes the table as well.
func (h *host) replaceRestriction(r *request) (any, error) {
	s, err := h.readState(r.Sandbox)
	if err != nil {
		return nil, step("read the state", err)
	}
	if s.Network != "egress" {
		return nil, step("restrict the network", errors.New("the sandbox has no network"))
	}
	s.Nft = r.Nft
	if err := h.writeState(s); err != nil {
		return nil, err
	}
	return map[string]any{}, h.restrict(&networkPlan{Nft: r.Nft, Restrict: r.Rules}, s.Slot)
}
