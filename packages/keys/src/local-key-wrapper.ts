import { createHmac, type KeyObject } from 'node:crypto';
import { keyErrors } from './errors.ts';
import type { KeyWrapper, WrappedKey } from './key-wrapper.ts';
import type { MasterKeys } from './master-keys.ts';
import { openBytes, sealBytes } from './sealed-box.ts';

const PREFIX = 'local:';

/** Dependencies of the local key wrapper. */
export interface LocalKeyWrapperDeps {
  /** Called again if a key was wrapped by an unknown master key, since the key may have been rotated. */
  loadMasterKeys: () => Promise<MasterKeys>;
  random: (size: number) => Buffer;
}

/** Wraps under the master key of this installation. */
export function createLocalKeyWrapper({ loadMasterKeys, random }: LocalKeyWrapperDeps): KeyWrapper {
  let known: Promise<MasterKeys> | null = null;
  const load = (): Promise<MasterKeys> => {
    const loading = loadMasterKeys();
    known = loading;
    loading.catch(() => {
      known = null;
    });
    return loading;
  };
  const find = (keys: MasterKeys, id: string): KeyObject | undefined =>
    [keys.current, ...keys.others].find((key) => masterKeyId(key) === id);
  return {
    id: async () => masterKeyId((await (known ?? load())).current),
    opens: (wrapperId) => wrapperId.startsWith(PREFIX),
    wrap: async (key, context) => {
      const { current } = await (known ?? load());
      return { wrapper: masterKeyId(current), text: sealBytes(current, key, context, random).toString('base64') };
    },
    unwrap: async (wrapped, context) => {
      const key = find(await (known ?? load()), wrapped.wrapper) ?? find(await load(), wrapped.wrapper);
      if (key === undefined) throw notOpened(wrapped, 'this is not the master key that it was wrapped under');
      const opened = openBytes(key, Buffer.from(wrapped.text, 'base64'), context);
      if (opened === null) throw notOpened(wrapped, 'it was changed, or belongs elsewhere');
      return opened;
    },
  };
}

/** Derives an id that distinguishes master keys and reveals nothing else about them. */
export function masterKeyId(key: KeyObject): string {
  return PREFIX + createHmac('sha256', key).update('svc master key id').digest('hex').slice(0, 16);
}

function notOpened({ wrapper }: WrappedKey, reason: string): Error {
  return keyErrors.KEY_NOT_OPENED({ details: { wrapper, reason } });
}
