import { ApiError, NetworkError } from '@svc/sdk';
import { useQueryErrorResetBoundary } from '@tanstack/react-query';
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect } from 'react';
import { paths } from '../../routes/paths.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { describeError, RequestId } from '../../ui/form-error.tsx';
import { Fault } from './fault.tsx';

/** A page that could not be loaded or shown. Trying again loads it anew. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const boundary = useQueryErrorResetBoundary();
  useEffect(() => boundary.reset(), [boundary]);
  const ofPlatform = error instanceof ApiError || error instanceof NetworkError;
  return (
    <main>
      <Fault
        code={error instanceof ApiError ? String(error.status) : 'Error'}
        title={ofPlatform ? 'The platform did not answer as it should' : 'This page failed'}
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
              Go to the overview
            </Link>
          </>
        }
      >
        <p>{ofPlatform ? describeError(error) : 'A fault of the console, not of your data. Trying again may help.'}</p>
        <RequestId error={error} />
      </Fault>
    </main>
  );
}
