import { signInPath } from './session/sign-in-path.ts';

/** Puts the sign-in page into the place of what was asked for, without loading the document again. */
export async function showSignIn(container: HTMLElement, next: string): Promise<void> {
  window.history.replaceState(null, '', signInPath(next));
  const { startEntrance } = await import('./entrance/start-entrance.ts');
  await startEntrance(container);
}
