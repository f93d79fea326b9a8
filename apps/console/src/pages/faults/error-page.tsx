import { ApiError, NetworkError } from '@svc/sdk';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { paths } from '../../routes/paths.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { describeError } from '../../ui/describe-error.ts';
import { RequestId } from '../../ui/form-error.tsx';
import { Fault } from './fault.tsx';

/** Shown if a page fails to load or render. Retrying reloads it. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const boundary = useQueryErrorResetBoundary();
  useEffect(() => boundary.reset(), [boundary]);
  const ofPlatform = error instanceof ApiError || error instanceof NetworkError;
  return (
    <main>
      <Fault
        code={error instanceof ApiError ? String(error.status) : 'Error'}
        title={ofPlatform ? 'Unexpected response from the platform' : 'Something went wrong on this page'}
        action={
          <>
            <Button
              variant="primary"
              onClick={() => {
                reset();
                void router.invalidate();
              }}
            >
              Try again
            </Button>
            <Link to={paths.home} className={buttonClass()}>
              Go to overview
            </Link>
          </>
        }
      >
        <p>
          {ofPlatform ? describeError(error) : 'This is an error in the console. Your data is not affected. Try again.'}
        </p>
        <RequestId error={error} />
      </Fault>
    </main>
  );
}
