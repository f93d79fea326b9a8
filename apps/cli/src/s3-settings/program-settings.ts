import type { IniEntries } from './ini-file.ts';

/** Settings that every program needs. */
export interface StoreAccess {
  /** `http://host:port` of the S3 plane. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Name of the data plane's only region. */
export const REGION = 'auto';

/** Returns the settings for `~/.aws/credentials`. */
export function awsCredentials({ accessKeyId, secretAccessKey }: StoreAccess): IniEntries {
  return [
    ['aws_access_key_id', accessKeyId],
    ['aws_secret_access_key', secretAccessKey],
  ];
}

/** Returns the settings for `~/.aws/config`. Uses path-style addressing, since virtual hosts need DNS names. */
export function awsConfig({ endpoint }: StoreAccess): IniEntries {
  return [
    ['region', REGION],
    ['endpoint_url', endpoint],
    ['s3', [['addressing_style', 'path']]],
  ];
}

export function rcloneRemote({ endpoint, accessKeyId, secretAccessKey }: StoreAccess): IniEntries {
  return [
    ['type', 's3'],
    ['provider', 'Other'],
    ['access_key_id', accessKeyId],
    ['secret_access_key', secretAccessKey],
    ['endpoint', endpoint],
    ['region', REGION],
    ['force_path_style', 'true'],
  ];
}

export function s3cmdSettings({ endpoint, accessKeyId, secretAccessKey }: StoreAccess): IniEntries {
  const { host, protocol } = new URL(endpoint);
  return [
    ['access_key', accessKeyId],
    ['secret_key', secretAccessKey],
    ['host_base', host],
    ['host_bucket', host],
    ['bucket_location', REGION],
    ['use_https', protocol === 'https:' ? 'True' : 'False'],
  ];
}

/** Variables for the AWS tools and libraries, rclone (remote `svc:`) and restic. */
export function environmentVariables(access: StoreAccess, bucket: string | undefined): Record<string, string> {
  const { endpoint, accessKeyId, secretAccessKey } = access;
  const rclone = rcloneRemote(access).map(([name, value]) => [
    `RCLONE_CONFIG_SVC_${name.toUpperCase()}`,
    String(value),
  ]);
  return {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ENDPOINT_URL_S3: endpoint,
    ...Object.fromEntries(rclone),
    ...(bucket === undefined ? {} : { RESTIC_REPOSITORY: `s3:${endpoint}/${bucket}` }),
  };
}

/** Variables for restic only. */
export function resticVariables(
  access: StoreAccess,
  repository: { bucket: string; folder: string },
): Record<string, string> {
  const { endpoint, accessKeyId, secretAccessKey } = access;
  const { bucket, folder } = repository;
  return {
    RESTIC_REPOSITORY: `s3:${endpoint}/${bucket}${folder === '' ? '' : `/${folder}`}`,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_DEFAULT_REGION: REGION,
  };
}
