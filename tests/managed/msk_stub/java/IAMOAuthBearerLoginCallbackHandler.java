package software.amazon.msk.auth.iam;

import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;

/** Stands in for Amazon's class: its tokens are JWTs without a signature, which a broker for development takes. */
public class IAMOAuthBearerLoginCallbackHandler implements AuthenticateCallbackHandler {
    private record Token(String value, String principalName, Long startTimeMs, long lifetimeMs, Set<String> scope)
            implements OAuthBearerToken {}

    @Override
    public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {}

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerTokenCallback wanted) {
                long now = System.currentTimeMillis() / 1000;
                String claims = String.format("{\"sub\": \"msk\", \"iat\": %d, \"exp\": %d}", now, now + 900);
                String value = encoded("{\"alg\": \"none\"}") + "." + encoded(claims) + ".";
                wanted.token(new Token(value, "msk", now * 1000, (now + 900) * 1000, Set.of()));
            }
        }
    }

    @Override
    public void close() {}

    private static String encoded(String part) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(part.getBytes());
    }
}
