import type { Tenant, Tenants } from './tenants.ts';

/** How long a day of lifecycle rules lasts in the suite and in the platform that it tests. */
export const LIFECYCLE_DAY_SECONDS = 10;

/**
 * The suite's configuration file. Every section must be there, also those of services (IAM) that no selected test calls;
 * they get keys that work, so that clean-up fails for the service's absence alone.
 */
export function suiteConfiguration(endpoint: string, { main, alt, tenant }: Tenants): string {
  const { hostname, port } = new URL(endpoint);
  return [
    section('DEFAULT', { host: hostname, port, is_secure: 'False', ssl_verify: 'False' }),
    section('fixtures', {
      'bucket prefix': 's3t-{random}-',
      'iam name prefix': 's3t-',
      'iam path prefix': '/s3t/',
    }),
    section('s3 main', { ...identity(main), api_name: '', lc_debug_interval: String(LIFECYCLE_DAY_SECONDS) }),
    section('s3 alt', identity(alt)),
    section('s3 tenant', { ...identity(tenant), tenant: '' }),
    section('iam', identity(main)),
    section('iam root', identity(main)),
    section('iam alt root', identity(alt)),
  ].join('\n');
}

function identity(tenant: Tenant): Record<string, string> {
  return {
    display_name: tenant.displayName,
    user_id: tenant.ownerId,
    email: tenant.email,
    access_key: tenant.accessKeyId,
    secret_key: tenant.secretAccessKey,
  };
}

function section(name: string, values: Readonly<Record<string, string>>): string {
  return [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${value}`), ''].join('\n');
}
