import { Link } from '@tanstack/react-router';
import { paths } from '../../routes/paths.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Fault } from './fault.tsx';

/** Inside the shell. What is another's looks the same as what never was. */
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

/** Where there is no shell around it. */
export function StandaloneNotFoundPage() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}
