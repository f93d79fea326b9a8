import { defineErrors } from '@svc/errors';

/** The agent's errors: over HTTP in the contract's body, in command results as `error`. */
export const agentErrors = defineErrors({
  INVALID_REQUEST: [400, '{reason}'],
  NOT_FOUND: [404, '{what} was not found'],
  METHOD_NOT_ALLOWED: [405, 'Allowed here: {allowed}'],
  RATE_LIMITED: [429, 'Too many requests; try again in {retry_after_seconds} s'],
  INTERNAL: [500, 'The agent could not answer'],
  TOKEN_MISSING: [500, 'The platform token cannot be read: {reason}'],
  STATE_DIR_UNUSABLE: [500, 'The state folder {path} cannot be used: {reason}'],
  STATE_DIR_IN_USE: [
    500,
    'Another agent ({holder}) uses the state folder {path}; stop it, or set {key} to a different folder',
  ],
  PORT_IN_USE: [500, 'Port {port} of {host} is in use; choose another with {key}'],
  FORBIDDEN: [403, '{reason}'],
  CONFLICT: [409, '{reason}'],
  UNSUPPORTED: [501, '{reason}'],
  UNAVAILABLE: [503, '{reason}'],
  NOT_READY: [504, '{reason}'],
  CANCELLED: [499, 'The command was cancelled'],
  SUPERSEDED: [409, 'Superseded by a newer deploy of the same project'],
  LOST: [500, '{reason}'],
  TIMEOUT: [504, '{reason}'],
  KUBERNETES_ERROR: [502, '{reason}'],
  APPLY_FAILED: [502, '{reason}'],
});
