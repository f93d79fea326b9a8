import { join } from 'node:path';
import { PROJECT_ROOT } from '@svc/test/running-platform';

/** Settings of the store for every client. */
export interface StoreAccess {
  endpoint: string;
  url: string;
  token: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** An empty home folder. */
  home: string;
}

export interface ClientCall {
  program: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
}

/** A program that copies between files and buckets. `place` is `bucket/key` or `bucket/prefix`. */
export interface ObjectClient {
  readonly name: string;
  version(): ClientCall;
  copyUp(file: string, place: string): ClientCall;
  copyDown(place: string, file: string): ClientCall;
  syncUp(folder: string, place: string): ClientCall;
  syncDown(place: string, folder: string): ClientCall;
}

type Copy = (from: string, to: string) => readonly string[];

/** Sets only what is required: each client runs with the defaults that its users get. */
export function createClient(name: string, access: StoreAccess): ObjectClient {
  switch (name) {
    case 'svc':
      return clientOf(name, {
        program: join(PROJECT_ROOT, 'svc'),
        environment: svcEnvironment(access),
        version: ['--version'],
        scheme: 'svc://',
        copy: (from, to) => ['object', 'cp', from, to],
        sync: (from, to) => ['object', 'sync', from, to],
      });
    case 'aws': {
      const endpoint = ['--endpoint-url', access.endpoint];
      return clientOf(name, {
        program: 'aws',
        environment: awsEnvironment(access),
        version: ['--version'],
        scheme: 's3://',
        copy: (from, to) => ['s3', 'cp', from, to, ...endpoint],
        sync: (from, to) => ['s3', 'sync', from, to, ...endpoint],
      });
    }
    case 'rclone':
      return clientOf(name, {
        program: 'rclone',
        environment: rcloneEnvironment(access),
        version: ['version'],
        scheme: 'bench:',
        copy: (from, to) => ['copyto', from, to],
        sync: (from, to) => ['sync', from, to],
      });
    case 'sdk': {
      const script = join(PROJECT_ROOT, 'bench/object-client/sdk-main.ts');
      return clientOf(name, {
        program: process.execPath,
        environment: { ...awsEnvironment(access), AWS_ENDPOINT_URL_S3: access.endpoint, AWS_REGION: 'auto' },
        version: ['--version'],
        scheme: 's3://',
        copy: (from, to) => [script, 'copy', from, to],
        sync: (from, to) => [script, 'sync', from, to],
      });
    }
    default:
      throw new Error(`unknown client ${name}`);
  }
}

interface ClientWords {
  program: string;
  environment: Readonly<Record<string, string>>;
  version: readonly string[];
  scheme: string;
  copy: Copy;
  sync: Copy;
}

function clientOf(name: string, { program, environment, version, scheme, copy, sync }: ClientWords): ObjectClient {
  const call = (args: readonly string[]): ClientCall => ({ program, args, environment });
  const remote = (place: string): string => `${scheme}${place}`;
  return {
    name,
    version: () => call(version),
    copyUp: (file, place) => call(copy(file, remote(place))),
    copyDown: (place, file) => call(copy(remote(place), file)),
    syncUp: (folder, place) => call(sync(folder, remote(place))),
    syncDown: (place, folder) => call(sync(remote(place), folder)),
  };
}

function svcEnvironment({ home, url, token, endpoint, accessKeyId, secretAccessKey }: StoreAccess) {
  return {
    HOME: home,
    SVC_URL: url,
    SVC_TOKEN: token,
    SVC_S3_ENDPOINT: endpoint,
    SVC_S3_ACCESS_KEY_ID: accessKeyId,
    SVC_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

function awsEnvironment({ home, accessKeyId, secretAccessKey }: StoreAccess) {
  return {
    HOME: home,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_DEFAULT_REGION: 'auto',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}

function rcloneEnvironment({ home, endpoint, accessKeyId, secretAccessKey }: StoreAccess) {
  return {
    HOME: home,
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_BENCH_TYPE: 's3',
    RCLONE_CONFIG_BENCH_PROVIDER: 'Other',
    RCLONE_CONFIG_BENCH_REGION: 'auto',
    RCLONE_CONFIG_BENCH_ENDPOINT: endpoint,
    RCLONE_CONFIG_BENCH_ACCESS_KEY_ID: accessKeyId,
    RCLONE_CONFIG_BENCH_SECRET_ACCESS_KEY: secretAccessKey,
  };
}
