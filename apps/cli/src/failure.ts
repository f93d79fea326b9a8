import { isAppError } from '@svc/errors';
import { ApiError, NetworkError, SvcError } from '@svc/sdk/errors';
import { CommandFailure } from './client/command-failure.ts';
import { printable } from './client/output.ts';
import { offlineHint } from './client/parse-refusal.ts';
import { S3Error } from './s3/s3-error.ts';

/** Remedies for common errors. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['TenantNotProvisioned', 'svc bucket create NAME creates the first bucket'],
  ['NoSuchBucket', 'svc bucket ls lists the buckets of this workspace'],
  ['NoSuchKey', 'svc object ls lists the objects'],
  ['BucketNotEmpty', 'svc bucket rm --force deletes it with everything in it'],
  ['BucketAlreadyExists', 'names are shared by all workspaces; choose another'],
  ['InvalidAccessKeyId', 'the key was revoked or has expired'],
  ['SlowDown', 'the platform is busy; try again later, or with a smaller --parallel'],
  ['QuotaExceeded', 'svc quota and svc bucket settings get show the limits'],
  ['UNKNOWN_IMAGE', 'svc sandbox images lists the images; --template starts from a template'],
  ['IMAGE_PULL_FAILED', 'svc sandbox images lists the cached images'],
  ['QUOTA_EXCEEDED', 'svc quota shows limits and usage'],
  ['NAME_TAKEN', 'choose another name, or omit it to get a generated one'],
  ['SANDBOX_NOT_RUNNING', 'svc sandbox start starts it'],
  ['SESSION_NOT_FOUND', 'svc sandbox shell without --session opens a new one'],
  ['SANDBOXES_UNAVAILABLE', 'see the svc up log for what is missing'],
  ['CLUSTER_NOT_FOUND', 'svc cluster ls lists the clusters of this workspace'],
  ['CLUSTER_NAME_TAKEN', 'svc cluster token creates a new token for the existing cluster'],
  ['DIRECTORY_NOT_EMPTY', '--recursive deletes it with everything in it'],
  ['PATH_NOT_FOUND', 'svc sandbox exec NAME -- ls or svc volume ls-files NAME:/PATH lists the files'],
]);

/**
 * Describes an error in one line with its hint. Bugs keep their whole stack. Empty if everything was already printed.
 */
export function describeFailure(error: unknown): string {
  if (isAppError(error) && error.code !== 'internal_error') return `svc: ${error.message}`;
  if (error instanceof CommandFailure && error.message === '') return '';
  const expected = describeExpected(error);
  if (expected !== null) return `svc: ${expected}`;
  if (error instanceof Error) return `svc: unexpected failure: ${error.stack ?? error.message}`;
  return `svc: unexpected failure: ${String(error)}`;
}

/** Describes expected errors of user, network and platform; null for anything else. */
export function describeExpected(error: unknown): string | null {
  if (error instanceof CommandFailure) return printable(error.message);
  if (error instanceof ApiError || error instanceof S3Error) {
    const hint = findHint(error);
    const issues = error instanceof ApiError ? describeIssues(error) : '';
    const request = error.status >= 500 && error.requestId !== null ? ` [request ${error.requestId}]` : '';
    return printable(`${error.message.replace(/\.$/, '')}${issues}${hint === undefined ? '' : ` (${hint})`}${request}`);
  }
  if (error instanceof NetworkError) return `${describeNetwork(error)} (is it running, and is SVC_URL right?)`;
  if (error instanceof SvcError) return printable(error.message);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return printable(describeSystem(error));
  return null;
}

function findHint(error: ApiError | S3Error): string | undefined {
  const known = HINTS.get(error.code);
  if (known !== undefined) return known;
  if (error.code === 'AGENT_OFFLINE')
    return offlineHint(error instanceof ApiError ? error.details['reason'] : undefined, error.message);
  if (error.status === 401) return 'the token is wrong, revoked or expired; run svc login again';
  return undefined;
}

function describeIssues({ details, message }: ApiError): string {
  const { issues } = details;
  if (!Array.isArray(issues) || issues.length === 0) return '';
  const texts = issues.slice(0, 3).flatMap((each) => {
    const { field, issue } = (each ?? {}) as { field?: unknown; issue?: unknown }; // for display only
    const said = issue === message || message.endsWith(`${String(field)} ${String(issue)}`);
    return said ? [] : [`${String(field)}: ${String(issue)}`];
  });
  return texts.length === 0 ? '' : `: ${texts.join('; ')}`;
}

function describeNetwork(error: NetworkError): string {
  const cause = describeCause(error);
  return cause === error.message ? cause : `${error.message}: ${cause}`;
}

/** Returns the innermost cause, such as `connect ECONNREFUSED 127.0.0.1:4000`. */
function describeCause(error: Error): string {
  let inner: Error = error;
  while (inner.cause instanceof Error) inner = inner.cause;
  if (inner.message !== '') return inner.message;
  return 'code' in inner ? String(inner.code) : inner.name;
}

/** Rephrases system errors such as `ENOENT: no such file or directory, open 'x'` without the names of system calls. */
function describeSystem(error: Error): string {
  if ('code' in error && error.code === 'ENOENT' && 'path' in error) return `there is no file ${String(error.path)}`;
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}
