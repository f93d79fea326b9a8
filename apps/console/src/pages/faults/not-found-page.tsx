import { Link } from '@tanstack/react-router';
import { paths } from '../../routes/paths.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Fault } from './fault.tsx';

/** Not-found page inside the shell. Inaccessible and missing resources look the same. */
export function NotFoundPage() {
  return (
    <Fault
      code="404"
      title="Page not found"
      action={
        <Link to={paths.home} className={buttonClass({ variant: 'secondary' })}>
          Go to overview
        </Link>
      }
    >
      It may have been moved or deleted, or your account does not have access.
    </Fault>
  );
}

/** Not-found page without the shell. */
export function StandaloneNotFoundPage() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}
