import { keyErrors } from './errors.ts';

/** A key encrypted under another key. */
export interface WrappedKey {
  /** `KeyWrapper.id` of the wrapper. */
  wrapper: string;
  text: string;
}

/**
 * Protects key-encryption keys with a key that never leaves the adapter. One contract suite covers every adapter.
 * Throws `KEY_SERVICE_UNAVAILABLE` on a temporary failure and `KEY_NOT_OPENED` for anything it did not wrap.
 */
export interface KeyWrapper {
  /**
   * Identifies the adapter and the wrapping key, such as `local:4f1c…` or `vault-transit:transit/svc`. Never a secret.
   */
  id(): Promise<string>;
  /** Whether this adapter can open keys of the given wrapper. */
  opens(wrapperId: string): boolean;
  /** Binds `context` to the wrapped key, which opens only with the same context. */
  wrap(key: Uint8Array, context: string): Promise<WrappedKey>;
  unwrap(wrapped: WrappedKey, context: string): Promise<Buffer>;
}

/** Wraps with the configured wrapper; also opens keys wrapped by others before a configuration change. */
export function combineKeyWrappers(current: KeyWrapper, others: readonly KeyWrapper[]): KeyWrapper {
  const all = [current, ...others];
  return {
    id: () => current.id(),
    opens: (wrapperId) => all.some((wrapper) => wrapper.opens(wrapperId)),
    wrap: (key, context) => current.wrap(key, context),
    unwrap: async (wrapped, context) => {
      const wrapper = all.find((each) => each.opens(wrapped.wrapper));
      if (wrapper === undefined) {
        const reason = 'no configured key service knows this wrapper';
        throw keyErrors.KEY_NOT_OPENED({ details: { wrapper: wrapped.wrapper, reason } });
      }
      return await wrapper.unwrap(wrapped, context);
    },
  };
}
