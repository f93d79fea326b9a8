import { Link, type LinkProps } from '@tanstack/react-router';
import { buttonClass } from '../ui/button.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { EmptyState } from '../ui/states.tsx';

export interface MissingPageProps {
  /** The resource type, such as `Cluster`. */
  what: string;
  parent: { label: string; link: Pick<LinkProps, 'to' | 'params'> };
}

/** Shown for a resource that does not exist or is not accessible; the two are indistinguishable. */
export function MissingPage({ what, parent }: MissingPageProps) {
  return (
    <Page title={`${what} not found`} parent={parent}>
      <Panel padded={false}>
        <EmptyState
          title={`This ${what.toLowerCase()} does not exist`}
          action={
            <Link {...parent.link} className={buttonClass()}>
              Show {parent.label.toLowerCase()}
            </Link>
          }
        >
          It may have been deleted, or your account does not have access.
        </EmptyState>
      </Panel>
    </Page>
  );
}
