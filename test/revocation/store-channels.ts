import { done } from '@svc/platform/testing';
import {
  createSigningCredential,
  signHeaders,
  UNSIGNED_PAYLOAD,
  type AccessKey,
  type QueryParameter,
} from '@svc/s3-sign';
import type { Channel } from './channel.ts';
import { openDownload, openUpload, type Open } from './open-channel.ts';
import { outlivesWithMaker } from './outlives.ts';
import { LARGE_BYTES, type Place } from './place.ts';

const objectsOf = ({ platform, store, bucket }: Place): string => `${platform.url}${store}/buckets/${bucket}/objects`;

async function isStored({ platform, store, bucket, steward }: Place, key: string): Promise<boolean> {
  const team = steward.team === null ? '' : `&team_uuid=${steward.team}`;
  const path = `${store}/buckets/${bucket}/objects/download?key=${key}${team}`;
  return (await platform.call('HEAD', path, steward.headers)).status === 200;
}

async function keyOf({ platform, store, caller, scope }: Place): Promise<AccessKey> {
  const { data } = await done(platform, 'POST', `${store}/keys${scope}`, caller.headers, {});
  const { accessKeyId, secretAccessKey } = data as AccessKey; // the shape is tested in the object store
  return { accessKeyId, secretAccessKey };
}

interface Wanted {
  readonly method: string;
  readonly key: string;
  readonly parameters?: readonly QueryParameter[];
  readonly headers?: Record<string, string>;
}

async function signed(place: Place, { method, key, parameters = [], headers = {} }: Wanted) {
  const { host, origin } = new URL(place.platform.s3Endpoint);
  const path = `/${place.bucket}/${key}`;
  const toSign = { method, path, parameters, headers: { host, ...headers }, payloadHash: UNSIGNED_PAYLOAD };
  const credential = createSigningCredential(await keyOf(place), 'us-east-1');
  const { headers: sent } = signHeaders(toSign, credential, Date.now());
  const query = parameters.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('&');
  return { url: `${origin}${path}${query === '' ? '' : `?${query}`}`, asked: { method, headers: sent } };
}

async function presigned(place: Place, method: 'GET' | 'PUT', key: string): Promise<string> {
  const { platform, store, bucket, caller, scope } = place;
  const path = `${store}/buckets/${bucket}/objects/presign${scope}`;
  const { data } = await done(platform, 'POST', path, caller.headers, { key, method });
  return String((data as { url: string }).url); // the shape is tested in the object store
}

/** The key that signs the URLs of the caller; the list of keys leaves it out. */
export async function presigningKeyOf(place: Place): Promise<string> {
  const { searchParams } = new URL(await presigned(place, 'GET', 'large'));
  return searchParams.get('X-Amz-Credential')?.split('/', 1)[0] ?? '';
}

const LENGTH = { 'content-length': String(LARGE_BYTES) };

async function openPart(place: Place): Promise<Open> {
  const { platform, store, bucket, caller, scope } = place;
  const path = `${store}/buckets/${bucket}/objects/multipart${scope}`;
  const { data } = await done(platform, 'POST', path, caller.headers, { key: 'in-parts' });
  const { uploadId } = data as { uploadId: string }; // the shape is tested in the object store
  const parameters = [
    { name: 'partNumber', value: '1' },
    { name: 'uploadId', value: uploadId },
  ];
  const { url, asked } = await signed(place, { method: 'PUT', key: 'in-parts', parameters, headers: LENGTH });
  return openUpload(url, asked, () => isStored(place, 'in-parts'));
}

/** Only what is read and written over the S3 listener has the rights of the key's maker, not of its credential. */
const byKey = (open: Channel['open']): Channel => ({ outlives: outlivesWithMaker, open });

export const STORE_CHANNELS: Readonly<Record<string, Channel>> = {
  'a download of an object': {
    open: (place) =>
      openDownload(`${objectsOf(place)}/download${place.scope}&key=large`, { headers: place.caller.headers }),
  },
  'an upload of an object': {
    open: (place) => {
      const headers = { ...place.caller.headers, ...LENGTH, 'content-type': 'application/octet-stream' };
      const url = `${objectsOf(place)}/content${place.scope}&key=sent`;
      return openUpload(url, { method: 'PUT', headers }, () => isStored(place, 'sent'));
    },
  },
  'a download by an access key': {
    ...byKey(async (place) => {
      const { url, asked } = await signed(place, { method: 'GET', key: 'large' });
      return openDownload(url, asked);
    }),
    through: 'modules/object-store/src/s3/watch-key.ts',
  },
  'an upload by an access key': byKey(async (place) => {
    const { url, asked } = await signed(place, { method: 'PUT', key: 'by-key', headers: LENGTH });
    return openUpload(url, asked, () => isStored(place, 'by-key'));
  }),
  'a part of an upload by an access key': byKey(openPart),
  'a download by a presigned URL': byKey(async (place) => openDownload(await presigned(place, 'GET', 'large'))),
  'an upload by a presigned URL': byKey(async (place) => {
    const url = await presigned(place, 'PUT', 'by-url');
    return openUpload(url, { method: 'PUT', headers: LENGTH }, () => isStored(place, 'by-url'));
  }),
};
