import { signInPath } from './session/sign-in-path.ts';

/** Replaces the page with the sign-in page without reloading the document. */
export async function showSignIn(container: HTMLElement, next: string): Promise<void> {
  window.history.replaceState(null, '', signInPath(next));
  const { startEntrance } = await import('./entrance/start-entrance.ts');
  await startEntrance(container);
}
