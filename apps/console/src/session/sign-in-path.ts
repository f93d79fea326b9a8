import { entrancePaths, paths } from '../routes/paths.ts';

/** The sign-in page, which leads back to `next`. `ended`: it says that the session is over. */
export function signInPath(next: string, { ended = false }: { ended?: boolean } = {}): string {
  const search = new URLSearchParams({ ...(next !== paths.home && { next }), ...(ended && { ended: 'true' }) });
  return search.size === 0 ? entrancePaths.signIn : `${entrancePaths.signIn}?${search.toString()}`;
}
