import { Link } from '@tanstack/react-router';
import { paths } from '../../routes/paths.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Fault } from './fault.tsx';

/** Inside the shell. What is another's looks the same as what never was. */
export function NotFoundPage() {
  return (
    <Fault
      code="404"
      title="This page does not exist"
      action={
        <Link to={paths.home} className={buttonClass({ variant: 'secondary' })}>
          Go to the overview
        </Link>
      }
    >
      It was moved or deleted, or the account you are signed in with does not reach it.
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
