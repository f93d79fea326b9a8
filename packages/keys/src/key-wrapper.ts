import { keyErrors } from './errors.ts';

/** A key under another key that stays where it is. */
export interface WrappedKey {
  /** `KeyWrapper.id` of what wrapped it. */
  wrapper: string;
  text: string;
}

/**
 * Protects key-encryption keys with a key that never leaves its place. One contract suite runs on every adapter.
 * `KEY_SERVICE_UNAVAILABLE` when it cannot answer now, `KEY_NOT_OPENED` for what it never wrapped.
 */
export interface KeyWrapper {
  /** Names the adapter and the key that wraps, such as `local:4f1c…` or `vault-transit:transit/svc`. Never a secret. */
  id(): Promise<string>;
  /** Whether this adapter may open what the wrapper of this id wrapped. */
  opens(wrapperId: string): boolean;
  /** `context` is bound to the wrapped key: it opens under the same context alone. */
  wrap(key: Uint8Array, context: string): Promise<WrappedKey>;
  unwrap(wrapped: WrappedKey, context: string): Promise<Buffer>;
}

/** The wrapper that the configuration names wraps; what others wrapped before a change of the configuration still opens. */
export function combineKeyWrappers(current: KeyWrapper, others: readonly KeyWrapper[]): KeyWrapper {
  const all = [current, ...others];
  return {
    id: () => current.id(),
    opens: (wrapperId) => all.some((wrapper) => wrapper.opens(wrapperId)),
    wrap: (key, context) => current.wrap(key, context),
    unwrap: async (wrapped, context) => {
      const wrapper = all.find((each) => each.opens(wrapped.wrapper));
      if (wrapper === undefined) {
        const reason = 'nothing in the configuration knows this wrapper';
        throw keyErrors.KEY_NOT_OPENED({ details: { wrapper: wrapped.wrapper, reason } });
      }
      return await wrapper.unwrap(wrapped, context);
    },
  };
}
