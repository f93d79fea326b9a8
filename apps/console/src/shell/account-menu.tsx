import { useSession } from '../session/use-session.ts';
import { LazyPopup } from '../ui/lazy-parts.tsx';
import { Monogram } from '../ui/monogram.tsx';
import styles from './switcher.module.css';

const loadMenu = async () => (await import('./account-menu-popup.tsx')).AccountMenuPopup;

export function AccountMenu() {
  const { me } = useSession();
  const name = me.user.name === '' ? me.user.email : me.user.name;
  return (
    <LazyPopup
      load={loadMenu}
      trigger={
        <button type="button" className={styles['switcher']}>
          <Monogram name={name} seed={me.user.id} size="large" shape="round" />
          <span className={styles['names']}>
            <span className={styles['name']}>
              <span className="visually-hidden">Account of </span>
              {name}
            </span>
            {name !== me.user.email && <span className={styles['team']}>{me.user.email}</span>}
          </span>
        </button>
      }
    />
  );
}
