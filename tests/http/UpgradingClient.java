import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;

/** Posts a body, plainly and with the upgrade to HTTP/2 that java.net.http offers by default; prints each answer. */
final class UpgradingClient {
    public static void main(String[] arguments) throws Exception {
        byte[] body = arguments[2].getBytes("UTF-8");
        BodyPublisher sized = BodyPublishers.ofByteArray(body);
        BodyPublisher chunked = BodyPublishers.fromPublisher(BodyPublishers.ofByteArrays(List.of(body)));
        HttpClient plain = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpClient upgrading = HttpClient.newHttpClient();
        post(plain, arguments, sized);
        for (int round = 0; round < 2; round++) {
            post(upgrading, arguments, sized);
            post(upgrading, arguments, chunked);
        }
    }

    private static void post(HttpClient client, String[] arguments, BodyPublisher body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(arguments[0]))
            .header("Content-Type", arguments[1])
            .POST(body)
            .build();
        var response = client.send(request, BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}
