import type { Tenant, Tenants } from './tenants.ts';

/** Length of a lifecycle day in the suite and in the platform under test. */
export const LIFECYCLE_DAY_SECONDS = 10;

/**
 * The suite's configuration file. It requires every section, even for services (IAM) that no selected test calls; those
 * get working keys, so that cleanup fails only because the service is missing.
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
