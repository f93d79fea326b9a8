/** Of changes that may take away the right they were made with: their caller still hears that they were made. */
export const ENDS_OWN_RIGHT = 'the change may end the right of its own caller, who is still answered';
