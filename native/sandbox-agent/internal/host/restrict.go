package host

import "errors"

// replaceRestriction gives a running sandbox another table, or its first one. The state says so before, because whoever
// takes the sandbox away takes the table away with it.
func (h *host) replaceRestriction(r *request) (any, error) {
	s, err := h.readState(r.Sandbox)
	if err != nil {
		return nil, step("read the state", err)
	}
	if s.Network != "egress" {
		return nil, step("restrict the network", errors.New("the sandbox has none"))
	}
	s.Nft = r.Nft
	if err := h.writeState(s); err != nil {
		return nil, err
	}
	return map[string]any{}, h.restrict(&networkPlan{Nft: r.Nft, Restrict: r.Rules}, s.Slot)
}
