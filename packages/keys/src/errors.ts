import { defineErrors } from '@svc/errors';

/** Errors of key wrappers and master keys. */
export const keyErrors = defineErrors({
  MASTER_KEY_INVALID: [500, 'The master key {reason}'],
  MASTER_KEY_CONFIGURED: [
    409,
    'The master key comes from the configuration: set the new key as SVC_MASTER_KEY and the old one as SVC_MASTER_KEY_PREVIOUS, restart every replica, then run this again',
  ],
  KEY_NOT_OPENED: [500, 'A key wrapped by {wrapper} cannot be unwrapped: {reason}'],
  KEY_SERVICE_UNAVAILABLE: [503, 'The key service is unavailable: {reason}'],
});
