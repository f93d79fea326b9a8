/** For changes that may revoke the caller's own right: the caller still receives the response. */
export const ENDS_OWN_RIGHT = 'the change may end the right of its own caller, who is still answered';
