import type { Refuse } from './auth-refusals.ts';

/** The key named by a signature, and its scope. */
export interface CredentialScope {
  accessKeyId: string;
  /** `yyyymmdd`. */
  date: string;
  region: string;
}

/** Parses `<key>/<date>/<region>/s3/aws4_request`. The key may contain slashes; the region may be empty. */
export function readCredentialScope(credential: string, refuse: Refuse): CredentialScope {
  const parts = credential.split('/');
  const [date, region, service, terminal] = parts.slice(-4);
  const accessKeyId = parts.slice(0, -4).join('/');
  if (accessKeyId === '' || date === undefined || region === undefined) {
    throw refuse('the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".');
  }
  if (service !== 's3') throw refuse(`incorrect service "${service}". This endpoint belongs to "s3".`);
  if (terminal !== 'aws4_request') {
    throw refuse(`incorrect terminal "${terminal}". This endpoint uses "aws4_request".`);
  }
  if (!/^\d{8}$/.test(date)) {
    const wanted = 'This date in the credential must be in the format "yyyyMMdd".';
    throw refuse(`incorrect date format "${date}". ${wanted}`);
  }
  return { accessKeyId, date, region };
}

/** All regions of this store are aliases of one. */
export function assertRegion(region: string, regions: readonly string[], refuse: Refuse): void {
  if (regions.includes(region)) return;
  const [expected = ''] = regions;
  throw refuse(`the region '${region}' is wrong; expecting '${expected}'`, { region: expected });
}
