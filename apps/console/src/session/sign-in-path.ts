import { entrancePaths, paths } from '../routes/paths.ts';

/** Path of the sign-in page, which returns to `next`. `ended` adds a notice that the session has ended. */
export function signInPath(next: string, { ended = false }: { ended?: boolean } = {}): string {
  const search = new URLSearchParams({ ...(next !== paths.home && { next }), ...(ended && { ended: 'true' }) });
  return search.size === 0 ? entrancePaths.signIn : `${entrancePaths.signIn}?${search.toString()}`;
}
