import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/geist-mono/wght.css';
import './ui/tokens.css';
import './ui/base.css';
import { entrancePaths } from './routes/paths.ts';
import { readLastWorkspace } from './session/last-workspace.ts';
import { showSignIn } from './show-sign-in.ts';

const container = document.getElementById('root');
if (container === null) throw new Error('the document has no #root');
// Not awaited: the scripts it loads import this one’s and would wait for it.
void start(container);

/** Loads the entrance or the console; each is a separate script. */
async function start(root: HTMLElement): Promise<void> {
  const { pathname, search, hash } = window.location;
  if (Object.values(entrancePaths).some((path) => path === pathname)) {
    const { startEntrance } = await import('./entrance/start-entrance.ts');
    await startEntrance(root);
    return;
  }
  // A browser without a last workspace was probably never signed in, so check before loading the console.
  if (readLastWorkspace() === null && (await isSignedOut())) {
    await showSignIn(root, `${pathname}${search}${hash}`);
    return;
  }
  const { startConsole } = await import('./start-console.tsx');
  startConsole(root);
}

async function isSignedOut(): Promise<boolean> {
  try {
    return (await fetch('/api/auth/me')).status === 401;
  } catch {
    return false; // the console reports the error
  }
}
